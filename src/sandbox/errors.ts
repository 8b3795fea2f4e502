/** Why a partner was not let into the sandbox. `wrong` is said of unknown clientIds and wrong secrets alike. */
export type SignInProblem = 'wrong' | 'limited' | 'suspended'

/** The sign-in was not accepted; `retryAt` when there were too many failures before it. */
export class PartnerSignInRefused extends Error {
  override readonly name = 'PartnerSignInRefused'
  readonly problem: SignInProblem
  readonly retryAt: Date | undefined

  constructor(problem: SignInProblem, retryAt?: Date) {
    super(`sandbox sign-in refused: ${problem}`)
    this.problem = problem
    this.retryAt = retryAt
  }
}

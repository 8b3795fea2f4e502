import { invalidRequest, type RescodeError } from '../lib/rescode.ts'

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

/** One answer for what does not exist and what is another partner's. */
export const noSuchEntry = (): RescodeError => invalidRequest('no such call', { status: 404 })

/** This call is not made once more; `obstacle` is why. */
export class NotReplayable extends Error {
  override readonly name = 'NotReplayable'
  readonly obstacle: 'changes' | 'not-a-notice' | 'not-whole'

  constructor(obstacle: NotReplayable['obstacle']) {
    super(`not replayable: ${obstacle}`)
    this.obstacle = obstacle
  }
}

export const notReplayable = (obstacle: NotReplayable['obstacle']): NotReplayable => new NotReplayable(obstacle)

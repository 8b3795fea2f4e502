import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'
import { RunRefusal } from '../certification/index.ts'

/**
 * Why a sign-in was refused. `wrong`: the clientId or the member is unknown, or the secret or the password is wrong; all
 * get the same answer. `members`: the clientSecret is right, but members have joined and sign in by themselves.
 */
export type SignInProblem = 'wrong' | 'limited' | 'suspended' | 'members'

/** The sign-in was refused. `retryAt` is set when there were too many failures before it. */
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

/** For scripts, which cannot follow a redirect to the sign-in page. 20015 is for operators alone. */
export const sessionEnded = (): RescodeError => invalidRequest(localized('session-ended'), { nativeStatus: 401 })

/** A run cannot begin before the partner has signed a call rightly. */
export const signatureFirst = () => new RunRefusal('signature_first', localized('signature-first'))

/** One answer for an entry that does not exist and for one of another partner. */
export const noSuchEntry = (): RescodeError => invalidRequest(localized('no-call'), { status: 404 })

/** This call cannot be replayed; `obstacle` is why. */
export class NotReplayable extends Error {
  override readonly name = 'NotReplayable'
  readonly obstacle: 'changes' | 'not-a-notice' | 'not-verified' | 'not-whole'

  constructor(obstacle: NotReplayable['obstacle']) {
    super(`not replayable: ${obstacle}`)
    this.obstacle = obstacle
  }
}

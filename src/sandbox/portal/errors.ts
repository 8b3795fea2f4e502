import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'
import { RunRefusal } from '../certification/index.ts'

/**
 * `wrong`: unknown clientId or member, or wrong secret or password; all get the same response. `members`: the
 * clientSecret is right, but the partner has members, who sign in with their own passwords.
 */
export type SignInProblem = 'wrong' | 'limited' | 'suspended' | 'members'

/** `retryAt` is set after too many failures. */
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

/** For scripts, which cannot follow a redirect to the sign-in page. 20015 is reserved for operators. */
export const sessionEnded = (): RescodeError => invalidRequest(localized('session-ended'), { nativeStatus: 401 })

/** A run cannot begin before the partner has passed the signature tool. */
export const signatureFirst = () => new RunRefusal('signature_first', localized('signature-first'))

/** The same for an entry that does not exist and for another partner's. */
export const noSuchEntry = (): RescodeError => invalidRequest(localized('no-call'), { status: 404 })

export class NotReplayable extends Error {
  override readonly name = 'NotReplayable'
  readonly obstacle: 'changes' | 'not-a-notice' | 'not-verified' | 'not-whole'

  constructor(obstacle: NotReplayable['obstacle']) {
    super(`not replayable: ${obstacle}`)
    this.obstacle = obstacle
  }
}

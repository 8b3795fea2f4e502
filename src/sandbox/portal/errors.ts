import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'
import { SignInRefused } from '../../platform/throttle/index.ts'

/** Right credentials: the partner is suspended, or has members, who sign in with their own passwords. */
export class PartnerNotAdmitted extends SignInRefused {
  readonly problem: 'suspended' | 'members'

  constructor(problem: PartnerNotAdmitted['problem']) {
    super(undefined, `the credentials are right, but not enough: ${problem}`)
    this.problem = problem
  }
}

/** For scripts, which cannot follow a redirect to the sign-in page. 20015 is reserved for operators. */
export const sessionEnded = (): RescodeError => invalidRequest(localized('session-ended'), { nativeStatus: 401 })

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

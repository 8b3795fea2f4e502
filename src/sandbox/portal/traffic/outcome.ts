import { interfaceNamed } from '../../../ticketing/interfaces/index.ts'
import { type NoticeDeps, noticeAt } from '../../../ticketing/mtp/index.ts'
import { isKeptWhole } from '../../../ticketing/mws/index.ts'
import type { NotReplayable } from '../errors.ts'
import type { KeptReceived, TrafficRow } from './store.ts'

/**
 * How a call ended, from the seller's point of view. `refused-rightly`: it had to be refused, and was; `not-refused`:
 * it was forged and accepted; `unverified`: anybody may have sent it.
 */
type OutcomeName = 'succeeded' | 'failed' | 'refused-rightly' | 'not-refused' | 'unverified'

export interface TrafficOutcome {
  readonly name: OutcomeName
  readonly tone: 'good' | 'bad' | 'warning'
}

type Judged = Pick<TrafficRow, 'failure' | 'verified' | 'forged' | 'verdict'>

/** A test step's verdict outranks the failure: the step knows what response to expect. */
export function outcomeOf({ failure, verified, forged, verdict }: Judged): TrafficOutcome {
  if (!verified) return { name: 'unverified', tone: 'warning' }
  const bad = verdict === null ? failure !== null : verdict === 'failed'
  if (forged !== null && failure === null) return { name: 'not-refused', tone: bad ? 'bad' : 'warning' }
  if (bad) return { name: 'failed', tone: 'bad' }
  return { name: failure === null ? 'succeeded' : 'refused-rightly', tone: 'good' }
}

/** Whether a warning is shown with the outcome. */
export const isWarned = ({ warnings, verdict, ...judged }: Judged & Pick<TrafficRow, 'warnings'>): boolean =>
  warnings.length > 0 || (verdict === 'warning' && outcomeOf({ ...judged, verdict }).tone === 'good')

/** `changes` something at the partner; `not-verified`: anybody may have sent it; `not-whole`: not stored completely. */
export type ReplayObstacle = NotReplayable['obstacle']

export const obstacleToCall = (name: string): ReplayObstacle | undefined =>
  interfaceNamed(name)?.reads ? undefined : 'changes'

/** A replay counts as correctly signed, so the notice must be verified, and stored whole. */
export function obstacleToNotice(deps: NoticeDeps, kept: KeptReceived): ReplayObstacle | undefined {
  if (noticeAt(deps, kept.path) === undefined) return 'not-a-notice'
  if (!kept.verified) return 'not-verified'
  return kept.reason === null || isKeptWhole(kept.body, kept.headers) ? undefined : 'not-whole'
}

/** As far as can be told from the list. */
export const isReplayable = (
  deps: NoticeDeps,
  { kind, name, verified, left_out }: Pick<TrafficRow, 'kind' | 'name' | 'verified' | 'left_out'>,
): boolean =>
  kind === 'call'
    ? obstacleToCall(name) === undefined
    : verified && left_out === null && noticeAt(deps, name) !== undefined

import type { InterfaceName } from '../../../ticketing/interfaces/index.ts'
import { type NoticeDeps, noticeEndpoint } from '../../../ticketing/mtp/index.ts'
import { isKeptWhole } from '../../../ticketing/mws/index.ts'
import type { NotReplayable } from '../errors.ts'
import type { KeptReceived } from './entry-store.ts'
import type { TrafficSummary } from './store.ts'

/**
 * How a call ended, as its seller sees it. `refused-rightly`: a call that had to be refused; `not-refused`: one that was
 * forged and accepted; `unverified`: anybody may have sent it.
 */
type OutcomeName = 'succeeded' | 'failed' | 'refused-rightly' | 'not-refused' | 'unverified'

export interface TrafficOutcome {
  readonly name: OutcomeName
  readonly tone: 'good' | 'bad' | 'warning'
}

type Judged = Pick<TrafficSummary, 'failure' | 'verified' | 'forged' | 'verdict'>

/** A test step judges better than the failure alone: it knows what the answer had to be. */
export function outcomeOf({ failure, verified, forged, verdict }: Judged): TrafficOutcome {
  if (!verified) return { name: 'unverified', tone: 'warning' }
  const bad = verdict === null ? failure !== null : verdict === 'failed'
  if (forged !== null && failure === null) return { name: 'not-refused', tone: bad ? 'bad' : 'warning' }
  if (bad) return { name: 'failed', tone: 'bad' }
  return { name: failure === null ? 'succeeded' : 'refused-rightly', tone: 'good' }
}

/** Whether a warning is shown with the outcome. */
export const isWarned = ({ warnings, verdict, ...judged }: Judged & Pick<TrafficSummary, 'warnings'>): boolean =>
  warnings.length > 0 || (verdict === 'warning' && outcomeOf({ ...judged, verdict }).tone === 'good')

/** Interfaces that only read: asking twice changes nothing at the partner. */
const READING: readonly string[] = [
  'poi-pull',
  'product-pull',
  'price-calendar',
  'level-price-calendar',
  'order-query',
  'balance-query',
  'heartbeat',
] satisfies readonly InterfaceName[]

/**
 * `changes`: it would change something at the partner; `not-a-notice`; `not-verified`: anybody may have sent it;
 * `not-whole`: its bytes are not all kept.
 */
export type ReplayObstacle = NotReplayable['obstacle']

export const obstacleToCall = (name: string): ReplayObstacle | undefined =>
  READING.includes(name) ? undefined : 'changes'

/**
 * A replay counts as correctly signed: only verified, whole notices. What was cut, masked or is not UTF-8 is not the
 * same.
 */
export function obstacleToNotice(deps: NoticeDeps, kept: KeptReceived): ReplayObstacle | undefined {
  if (noticeEndpoint(deps, kept.path) === undefined) return 'not-a-notice'
  if (!kept.verified) return 'not-verified'
  return kept.reason === null || isKeptWhole(kept.body, kept.headers) ? undefined : 'not-whole'
}

/** As far as the line of the list shows. */
export const isReplayable = (deps: NoticeDeps, { kind, name, verified, left_out }: TrafficSummary): boolean =>
  kind === 'call' ? READING.includes(name) : verified && left_out === null && noticeEndpoint(deps, name) !== undefined

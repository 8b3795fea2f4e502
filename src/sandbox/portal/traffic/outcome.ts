import type { TrafficSummary } from './store.ts'

/**
 * How a call ended, as its seller sees it. `refused-rightly`: a call that had to be refused; `not-refused`: one that was
 * forged and accepted; `unverified`: anybody may have sent it.
 */
export type OutcomeName = 'succeeded' | 'failed' | 'refused-rightly' | 'not-refused' | 'unverified'

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

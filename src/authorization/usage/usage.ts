import type { Deps } from '../../platform/deps.ts'
import { addSeconds, beginningOf, DAY_S } from '../../platform/lib/clock.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { addUsage, type DayOfUsage, usageOf } from './store.ts'

const EVERY_MS = 60_000
const AT_ONCE = 500

type Kept = Pick<Deps, 'db' | 'clock' | 'metrics'>

/** Writes what this process has counted since the last time, as of today; what the database does not take, the next time. */
export async function writeUsage({ db, clock, metrics: { usage } }: Kept, log: SampledLog): Promise<void> {
  const taken = usage.take()
  const day = beginningOf(clock.now(), DAY_S)
  while (taken.length > 0) {
    const some = taken.splice(0, AT_ONCE)
    await addUsage(db, day, some).catch((error: unknown) => {
      logBackgroundFailure(log, 'what apps did could not be counted', error)
      usage.putBack([...some, ...taken.splice(0)])
    })
  }
}

/** Once a minute; the function that it returns writes the rest and ends it. */
export function keepUsage(deps: Kept, log: SampledLog): () => Promise<void> {
  const timer = setInterval(() => void writeUsage(deps, log), EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    return writeUsage(deps, log)
  }
}

/** The last so many days, the present one among them; days in which there was nothing are missing. */
export async function recentUsage(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  appKey: string,
  days: number,
): Promise<{ readonly since: Date; readonly usage: DayOfUsage[] }> {
  const since = addSeconds(beginningOf(clock.now(), DAY_S), (1 - days) * DAY_S)
  return { since, usage: await usageOf(db, appKey, since) }
}

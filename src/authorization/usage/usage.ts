import type { Deps } from '../../platform/deps.ts'
import { addSeconds, beginningOf, DAY_S } from '../../platform/lib/clock.ts'
import { mayBeDone } from '../../platform/lib/database-errors.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { addUsage, type DayOfUsage, usageOf } from './store.ts'

const EVERY_MS = 60_000
const BATCH = 500

type Kept = Pick<Deps, 'db' | 'clock' | 'metrics'>

/** Under today's date. After a failure the next call writes it, unless it may have been written already. */
export async function writeUsage({ db, clock, metrics: { usage } }: Kept, log: SampledLog): Promise<void> {
  const taken = usage.take()
  const day = beginningOf(clock.now(), DAY_S)
  while (taken.length > 0) {
    const batch = taken.splice(0, BATCH)
    await addUsage(db, day, batch).catch((error: unknown) => {
      logBackgroundFailure(log, 'what apps did could not be counted', error)
      usage.putBack([...(mayBeDone(error) ? [] : batch), ...taken.splice(0)])
    })
  }
}

/** Writes the counts once a minute. The returned function stops that and writes what is left. */
export function keepUsage(deps: Kept, log: SampledLog): () => Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  const write = (): Promise<void> => {
    writing = writing.then(() => writeUsage(deps, log))
    return writing
  }
  const timer = setInterval(() => void write(), EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    return write()
  }
}

/** The last `days` days including today; days without usage are missing. */
export async function recentUsage(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  appKey: string,
  days: number,
): Promise<{ readonly since: Date; readonly usage: DayOfUsage[] }> {
  const since = addSeconds(beginningOf(clock.now(), DAY_S), (1 - days) * DAY_S)
  return { since, usage: await usageOf(db, appKey, since) }
}

import type { Deps } from '../../platform/deps.ts'
import { beginningOf, HOUR_S } from '../../platform/lib/clock.ts'
import { mayBeDone } from '../../platform/lib/database-errors.ts'
import { addActivity } from './history-store.ts'

const EVERY_MS = 60_000

export const hourOf = (moment: Date): Date => beginningOf(moment, HOUR_S)

type Kept = Pick<Deps, 'db' | 'clock' | 'metrics'>

/** Stores what this process has counted since the last call; keeps it for the next one if it was surely not stored. */
export async function writeHistory({ db, clock, metrics: { activity } }: Kept): Promise<void> {
  const taken = activity.take()
  if (taken.length === 0) return
  await addActivity(db, hourOf(clock.now()), taken).catch((error: unknown) => {
    if (!mayBeDone(error)) activity.putBack(taken)
  })
}

/** Calls `writeHistory` every minute; the returned function stops that and writes the rest. */
export function keepHistory(deps: Kept): () => Promise<void> {
  const { requests, activity } = deps.metrics
  let seen = requests.totals()
  const write = (): Promise<void> => {
    const totals = requests.totals()
    for (const [place, outcome] of (['ok', 'refused', 'failed'] as const).entries()) {
      activity.count('requests', '', outcome, (totals[place] ?? 0) - (seen[place] ?? 0))
    }
    seen = totals
    return writeHistory(deps)
  }
  const timer = setInterval(() => void write(), EVERY_MS).unref()
  return async () => {
    clearInterval(timer)
    await write()
  }
}

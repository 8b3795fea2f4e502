import type { Db } from '../sql.ts'
import { countFailure, type Failures, readFailures } from './store.ts'

/** How often one subject may fail within a window. */
export interface Limit {
  readonly subject: Buffer
  readonly most: number
}

/** The end of the window of the first limit that is used up; undefined while nobody has to wait. */
export async function exhaustedUntil(db: Db, limits: readonly Limit[], now: Date): Promise<Date | undefined> {
  const found = await Promise.all(limits.map(({ subject }) => readFailures(db, subject, now)))
  return endOfFirst(limits, found, (failures, most) => failures >= most)
}

/** Counts one failure under every limit; as above, where it is one too many. */
export async function failedOnce(
  db: Db,
  limits: readonly Limit[],
  now: Date,
  windowSeconds: number,
): Promise<Date | undefined> {
  const counted = await Promise.all(limits.map(({ subject }) => countFailure(db, subject, now, windowSeconds)))
  return endOfFirst(limits, counted, (failures, most) => failures > most)
}

function endOfFirst(
  limits: readonly Limit[],
  found: readonly (Failures | undefined)[],
  isOver: (failures: number, most: number) => boolean,
): Date | undefined {
  return found.find((counted, index) => counted && isOver(counted.failures, limits[index]?.most ?? 0))?.windowEndsAt
}

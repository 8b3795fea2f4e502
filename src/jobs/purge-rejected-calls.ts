import { addSeconds } from '../lib/clock.ts'
import { deleteRejectedCalls } from './purge-store.ts'
import type { Task } from './task.ts'

const KEPT_S = 30 * 86_400

/** Calls that were refused are kept for 30 days, for the partner to look at (decisions, section 3). */
export const purgeRejectedCallsTask: Task = async ({ db, clock }) => {
  await deleteRejectedCalls(db, addSeconds(clock.now(), -KEPT_S))
}

import { addSeconds } from '../lib/clock.ts'
import { deletePartnerCalls, deleteRejectedCalls } from './purge-store.ts'
import type { Task } from './task.ts'

const KEPT_S = 30 * 86_400

/** Refused calls are kept for 30 days (decisions, section 3), and ours to partners too: they hold visitors' data. */
export const purgeCallsTask: Task = async ({ db, clock }) => {
  const before = addSeconds(clock.now(), -KEPT_S)
  await deleteRejectedCalls(db, before)
  await deletePartnerCalls(db, before)
}

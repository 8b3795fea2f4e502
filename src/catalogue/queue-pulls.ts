import { enqueue } from '../db/jobs-store.ts'
import type { Db } from '../db/sql.ts'

/** Works through what is due to be pulled from the partner; one run at a time, whatever worker it is on. */
export const queuePulls = (db: Db, partnerId: bigint, runAt?: Date): Promise<number> => {
  const key = `pull-due:${partnerId}`
  return enqueue(db, 'pull-due', { partnerId: String(partnerId) }, { key, queue: key, ...(runAt ? { runAt } : {}) })
}

import { enqueue, findJobsByKey, type Job, rescheduleJob } from '../../../platform/db/jobs-store.ts'
import type { Db } from '../../../platform/db/sql.ts'
import type { Deps } from '../../../platform/deps.ts'

// Never reached: attempts are ten minutes apart at most, and after a day send.ts gives up.
const MAX_ATTEMPTS = 1_000

const keyOf = (notificationId: string): string => `send-notification:${notificationId}`

export const queueSending = (db: Db, notificationId: string): Promise<number> =>
  enqueue(db, 'send-notification', { notificationId }, { key: keyOf(notificationId), maxAttempts: MAX_ATTEMPTS })

/**
 * Makes the next attempt now. An attempt that is running is left alone, unless it `isOver`: then its job has only not
 * been released yet, and the queue replaces it.
 */
export async function sendNow({ db, clock }: Deps, notificationId: string, isOver: boolean): Promise<void> {
  const [job] = await findJobsByKey(db, [keyOf(notificationId)])
  if (job === undefined || (job.state === 'running' && isOver)) await queueSending(db, notificationId)
  else await rescheduleJob(db, job.job_id, clock.now(), 0)
}

/** The job of each notification that has one, by notification_id. */
export async function sendingJobs(db: Db, notificationIds: readonly string[]): Promise<Map<string, Job>> {
  const jobs = await findJobsByKey(db, notificationIds.map(keyOf))
  return new Map(jobs.map((job) => [String(job.key).slice(keyOf('').length), job]))
}

import { recordAudit } from '../../platform/audit/index.ts'
import { failJobPermanently, findJob, type Job, removeJob, rescheduleJob } from '../../platform/db/jobs-store.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { fullJitter } from '../../platform/lib/clock.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { RescodeError } from '../../platform/lib/web/rescode.ts'
import { GiveUp } from './task.ts'

const MAX_REASON = 500
const FIRST_PAUSE_S = 4
const MAX_PAUSE_S = 600

export type FailureVerdict = 'again' | 'failed' | 'superseded'

/** A run that has thrown; `attempts` includes it. */
interface FailedRun {
  readonly id: string
  readonly key: string | null
  readonly attempts: number
}

/** Decides about a job that has thrown and is unlocked again: the queue's own delay has no jitter. Refusals are final. */
export async function afterFailure(deps: Deps, failed: FailedRun, error: unknown): Promise<FailureVerdict> {
  const job = await findJob(deps.db, failed.id)
  if (!job) return 'superseded'
  // A newer job has taken its key, or the key was removed: the newer job counts.
  if (failed.key !== null && job.key === null) {
    await removeJob(deps.db, job.job_id)
    return 'superseded'
  }
  // Another worker has run it since, or an operator has decided about it, or it was queued anew.
  if (job.attempts !== failed.attempts) return job.state === 'failed' ? 'failed' : 'again'
  if (job.state === 'failed') {
    await recordGivenUp(deps, job, job.last_error ?? '')
    return 'failed'
  }
  if (error instanceof GiveUp || error instanceof RescodeError) {
    const { message } = error
    return inTransaction(deps, async (inside, db) => {
      // Another worker may have just taken it.
      if ((await failJobPermanently(db, job.job_id, message)) === 0) return 'again'
      await recordGivenUp(inside, job, message)
      return 'failed'
    })
  }
  const pause = fullJitter(job.attempts - 1, FIRST_PAUSE_S, MAX_PAUSE_S)
  await rescheduleJob(deps.db, job.job_id, pause)
  return 'again'
}

/** Keeps the reason for operators, as nothing retries the job automatically. */
const recordGivenUp = (deps: Deps, { job_id, task, key, attempts }: Job, reason: string) =>
  recordAudit(deps, {
    event: 'job_given_up',
    actor: { kind: 'job', name: task },
    target: `job:${job_id}`,
    outcome: 'failed',
    detail: { task, key, attempts, reason: cutTo(reason, MAX_REASON) },
  })

import { recordAudit } from '../../platform/audit/index.ts'
import { failJobPermanently, findJob, type Job, removeJob, rescheduleJob } from '../../platform/db/jobs-store.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds, fullJitter } from '../../platform/lib/clock.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { RescodeError } from '../../platform/lib/web/rescode.ts'
import { GiveUp } from './task.ts'

const LONGEST_REASON = 500
const FIRST_PAUSE_S = 4
const LONGEST_PAUSE_S = 600

/** What happened to a failed job. */
export type FailureVerdict = 'again' | 'failed' | 'superseded'

/**
 * Decides about a job that has thrown and is unlocked. The queue's own delay grows without jitter; it only applies if
 * this process dies before it has set a better one. A refusal (no such order, no such partner) would only be repeated.
 */
export async function afterFailure(
  deps: Deps,
  failed: { readonly id: string; readonly key: string | null },
  error: unknown,
): Promise<FailureVerdict> {
  const job = await findJob(deps.db, failed.id)
  if (!job) return 'superseded'
  // Its key was taken by a newer job of the same kind, or removed: the newer one counts.
  if (failed.key !== null && job.key === null) {
    await removeJob(deps.db, job.job_id)
    return 'superseded'
  }
  if (job.state === 'failed') {
    await recordGivenUp(deps, job, job.last_error ?? '')
    return 'failed'
  }
  if (error instanceof GiveUp || error instanceof RescodeError) {
    const { message } = error
    await inTransaction(deps, async (inside, db) => {
      await failJobPermanently(db, job.job_id, message)
      await recordGivenUp(inside, job, message)
    })
    return 'failed'
  }
  const pause = fullJitter(job.attempts - 1, FIRST_PAUSE_S, LONGEST_PAUSE_S)
  await rescheduleJob(deps.db, job.job_id, addSeconds(deps.clock.now(), pause))
  return 'again'
}

/** It is not retried by itself, so its reason is kept for operators. */
const recordGivenUp = (deps: Deps, { job_id, task, key, attempts }: Job, reason: string) =>
  recordAudit(deps, {
    event: 'job_given_up',
    actor: { kind: 'job', name: task },
    target: `job:${job_id}`,
    outcome: 'failed',
    detail: { task, key, attempts, reason: cutTo(reason, LONGEST_REASON) },
  })

import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import {
  countJobs,
  failJobPermanently,
  findJob,
  type Job,
  listJobs as readJobs,
  removeFailedJob,
  rescheduleJob,
} from '../../platform/db/jobs-store.ts'
import { filterText, pageInput, pageOf } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { operation, visibleLine } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, RefusedRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'

const jobFilter = z.strictObject({
  failed: z
    .union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })], problem('must-be-boolean'))
    .default(false),
  task: filterText(64).optional(),
  ...pageInput(z.tuple([z.string().regex(/^\d{1,18}$/)])),
})

const oneJob = z.strictObject({ job_id: z.string().regex(/^\d{1,18}$/, problem('must-be-job-id')) })

const noSuchJob = (jobId: string): RescodeError => invalidRequest(localized('no-job', { job: jobId }), { status: 404 })

/** A page of unfinished jobs, newest first; with `failed` only those that have failed permanently. */
export const listJobs = operation(jobFilter, async ({ db }: Deps, { limit, after, ...filter }) => {
  const found = await readJobs(db, { ...filter, before: after?.[0], limit: limit + 1 })
  const { rows: jobs, next } = pageOf(
    found.map((job) => ({ ...job, cursor: JSON.stringify([job.job_id]) })),
    limit,
  )
  return { jobs, next }
})

export const jobCounts = ({ db }: Deps) => countJobs(db)

/** Throws 20007 (404), also once it is done. */
export const showJob = operation(oneJob, async ({ db }: Deps, { job_id }): Promise<Job> => {
  const job = await findJob(db, job_id)
  if (!job) throw noSuchJob(job_id)
  return job
})

/** Runs a job again now, with all its attempts. Throws for a running job. */
export const retryJob = operation(oneJob, (deps: Deps, { job_id }) =>
  changeJob(deps, job_id, { event: 'job_retried', detail: {} }, (db) => rescheduleJob(db, job_id, 0, 0)),
)

/** Marks a job as permanently failed, with the reason. Throws for a running job. */
export const giveUpJob = operation(oneJob.extend({ reason: visibleLine(200) }), (deps: Deps, { job_id, reason }) =>
  changeJob(deps, job_id, { event: 'job_given_up', detail: { reason } }, (db) =>
    failJobPermanently(db, job_id, `given up: ${reason}`),
  ),
)

/** Removes a job that has failed permanently, when there is nothing left to do about it. Returns it as it was. */
export const removeJob = operation(oneJob.extend({ reason: visibleLine(200) }), (deps: Deps, { job_id, reason }) =>
  changeJob(deps, job_id, { event: 'job_removed', detail: { reason }, refusal: 'job-not-failed' }, (db) =>
    removeFailedJob(db, job_id),
  ),
)

interface Change {
  readonly event: `job_${string}`
  readonly detail: object
  readonly refusal?: 'job-running' | 'job-not-failed'
}

const changeJob = (
  deps: Deps,
  jobId: string,
  { event, detail, refusal = 'job-running' }: Change,
  change: (db: Db) => Promise<number>,
): Promise<Job> =>
  inTransaction(deps, async (inside, db) => {
    const before = await findJob(db, jobId)
    if (!before) throw noSuchJob(jobId)
    if ((await change(db)) === 0) throw new RefusedRequest(localized(refusal, { job: jobId }))
    const auditDetail = { task: before.task, key: before.key, ...detail }
    await recordAudit(inside, { event, target: `job:${jobId}`, detail: auditDetail })
    return (await findJob(db, jobId)) ?? before
  })

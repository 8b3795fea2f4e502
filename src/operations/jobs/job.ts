import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import {
  countJobs,
  failJobForGood,
  findJob,
  type Job,
  type JobCounts,
  listJobs as readJobs,
  rescheduleJob,
} from '../../platform/db/jobs-store.ts'
import { filterText, pageInput, pageOf } from '../../platform/db/page.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { visibleLine } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, RefusedRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'

export const jobFilter = z.strictObject({
  failed: z
    .union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })], problem('must-be-boolean'))
    .default(false),
  task: filterText(64).optional(),
  ...pageInput(z.tuple([z.string().regex(/^\d{1,18}$/)])),
})
export type JobFilter = z.output<typeof jobFilter>

export const oneJob = z.strictObject({ job_id: z.string().regex(/^\d{1,18}$/, problem('must-be-job-id')) })
export type OneJob = z.output<typeof oneJob>

const noSuchJob = (jobId: string): RescodeError => invalidRequest(localized('no-job', { job: jobId }), { status: 404 })

/** A page of the unfinished jobs, newest first; with `failed` only those that failed permanently. */
export async function listJobs(
  deps: Deps,
  { limit, after, ...filter }: JobFilter,
): Promise<{ jobs: Job[]; next: string | null }> {
  const page = await readJobs(deps.db, { ...filter, before: after?.[0], limit: limit + 1 })
  const { rows, next } = pageOf(
    page.map((job) => ({ ...job, cursor: JSON.stringify([job.job_id]) })),
    limit,
  )
  return { jobs: rows, next }
}

/** How many jobs wait, run and have failed permanently. */
export const jobCounts = ({ db, clock }: Deps): Promise<JobCounts> => countJobs(db, clock.now())

export const givenUpJob = oneJob.extend({ reason: visibleLine(200) })
export type GivenUpJob = z.output<typeof givenUpJob>

/** Runs a job again, now and with all its attempts available again. One that is running is refused. */
export const retryJob = (deps: Deps, { job_id }: OneJob): Promise<Job> =>
  changeJob(deps, job_id, { event: 'job_retried', detail: {} }, (db) => rescheduleJob(db, job_id, deps.clock.now(), 0))

/** Ends the attempts of a job: it counts as permanently failed, with the reason. One that is running is refused. */
export const giveUpJob = (deps: Deps, { job_id, reason }: GivenUpJob): Promise<Job> =>
  changeJob(deps, job_id, { event: 'job_given_up', detail: { reason } }, (db) =>
    failJobForGood(db, job_id, `given up: ${reason}`),
  )

/** Leaves a row in the audit log, in one transaction with the change. */
const changeJob = (
  deps: Deps,
  jobId: string,
  { event, detail }: { readonly event: `job_${string}`; readonly detail: object },
  change: (db: Db) => Promise<number>,
): Promise<Job> =>
  inTransaction(deps, async (inside, db) => {
    const touched = await change(db)
    const job = await findJob(db, jobId)
    if (!job) throw noSuchJob(jobId)
    if (touched === 0) throw new RefusedRequest(localized('job-running', { job: jobId }))
    const auditDetail = { task: job.task, key: job.key, ...detail }
    await recordAudit(inside, { event, target: `job:${jobId}`, detail: auditDetail })
    return job
  })

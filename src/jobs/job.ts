import { z } from 'zod'
import { findJob, type Job, listJobs as readJobs, rescheduleJob } from '../db/jobs-store.ts'
import type { Deps } from '../deps.ts'
import { invalidRequest, type RescodeError } from '../lib/web/rescode.ts'

export const jobFilter = z.strictObject({
  failed: z
    .union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })], 'must be true or false')
    .default(false),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
})
export type JobFilter = z.output<typeof jobFilter>

export const oneJob = z.strictObject({ job_id: z.string().regex(/^\d{1,18}$/, 'must be the id of a job') })
export type OneJob = z.output<typeof oneJob>

const noSuchJob = (jobId: string): RescodeError => invalidRequest(`job ${jobId} does not exist`, { status: 404 })

/** Unfinished jobs, newest first; with `failed` only those that failed permanently. */
export const listJobs = (deps: Deps, filter: JobFilter): Promise<Job[]> => readJobs(deps.db, filter)

/** Runs a job again, now and with all its attempts available again. One that is running is refused. */
export async function retryJob(deps: Deps, { job_id }: OneJob): Promise<Job> {
  const touched = await rescheduleJob(deps.db, job_id, deps.clock.now(), 0)
  const job = await findJob(deps.db, job_id)
  if (!job) throw noSuchJob(job_id)
  if (touched === 0) throw invalidRequest(`job ${job_id} is running`)
  return job
}

import type { Command } from 'commander'
import type { Job } from '../db/jobs-store.ts'
import { givenUpJob, giveUpJob, jobFilter, listJobs, oneJob, retryJob } from '../jobs/index.ts'
import type { CliContext } from './context.ts'
import { defineListCommand } from './list.ts'
import { defineCommand } from './operation.ts'
import { aligned, readable } from './text.ts'

/** `gatehouse job …`: durable jobs, as over /admin/v1/jobs. */
export function jobCommands(program: Command, context: CliContext): void {
  const job = program.command('job').description('durable jobs: those still to run, and those that failed')
  const list = job
    .command('list')
    .description('unfinished jobs, newest first')
    .option('--failed', 'only those that failed permanently')
    .option('--task <task>', 'only those of this task')
  defineListCommand(list, context, {
    plural: 'jobs',
    input: jobFilter,
    inputFrom: ({ failed, task }) => ({ failed, task }),
    page: listJobs,
    table,
  })
  const retry = job.command('retry').description('run a job again, with all its attempts available again')
  defineCommand(retry.argument('[job_id]').usage('<job_id> [options]'), context, {
    input: oneJob,
    inputFrom: (_, job_id) => ({ job_id }),
    run: retryJob,
    text: (done) => table([done]),
    flags: { job_id: 'job_id' },
  })
  const giveUp = job.command('give-up').description('end the attempts of a job: it counts as failed for good')
  defineCommand(
    giveUp.argument('[job_id]').usage('<job_id> [options]').option('--reason <text>', 'kept with it'),
    context,
    {
      input: givenUpJob,
      inputFrom: ({ reason }, job_id) => ({ job_id, reason }),
      run: giveUpJob,
      text: (done) => table([done]),
      flags: { job_id: 'job_id' },
    },
  )
}

function table(jobs: readonly Job[]): string {
  if (jobs.length === 0) return 'no jobs'
  const rows = jobs.map((job) => [
    job.job_id,
    job.state,
    `${job.attempts} of ${job.max_attempts}`,
    readable(job.run_at),
    job.key ?? job.task,
    readable(job.last_error),
  ])
  return aligned([['JOB_ID', 'STATE', 'ATTEMPTS', 'RUN_AT', 'JOB', 'LAST_ERROR'], ...rows])
}

import { givenUpJob, giveUpJob, jobFilter, listJobs, oneJob, retryJob } from '../../jobs/index.ts'
import { parseInput } from '../../lib/json/input.ts'
import type { Action, PageContext, Section } from '../page-model.ts'
import { at, code, link, orDash, stateCell, text, time } from '../texts.ts'

const pageOf = (job_id: string, what: string): string => at('jobs', job_id, what)

const readPage = async ({ deps, t, fields }: PageContext) => {
  const { jobs, next } = await listJobs(deps, parseInput(jobFilter, fields))
  return {
    table: {
      head: [
        t('console.field.job'),
        t('console.field.task'),
        t('console.field.state'),
        t('console.field.attempts'),
        t('console.field.runs_at'),
        t('console.field.last_error'),
        t('console.field.change'),
      ],
      rows: jobs.map((job) => [
        code(job.job_id),
        text(job.key ? `${job.task} (${job.key})` : job.task),
        stateCell(job.state, t),
        text(`${job.attempts} / ${job.max_attempts}`),
        time(job.run_at),
        orDash(job.last_error?.slice(0, 300) ?? null),
        job.state === 'running' ? text('–') : link(t('console.jobs.open'), pageOf(job.job_id, 'retry')),
      ]),
      none: t('console.jobs.none'),
    },
    next,
  }
}

const idOf = ({ params }: PageContext) => parseInput(oneJob, { job_id: params.job_id })

const retry: Action = {
  path: '/jobs/:job_id/retry',
  operation: 'POST /jobs/:job_id/retry',
  title: 'console.jobs.retry',
  confirm: async (context) => {
    const { job_id } = idOf(context)
    return {
      says: [context.t('console.jobs.retry_says', { job: job_id })],
      back: at('jobs'),
      other: {
        operation: 'POST /jobs/:job_id/give-up',
        href: pageOf(job_id, 'give-up'),
        text: context.t('console.jobs.give_up'),
      },
    }
  },
  run: async (context) => {
    await retryJob(context.deps, idOf(context))
    return undefined
  },
}

const giveUp: Action = {
  path: '/jobs/:job_id/give-up',
  operation: 'POST /jobs/:job_id/give-up',
  title: 'console.jobs.give_up',
  confirm: async (context) => ({
    says: [context.t('console.jobs.give_up_says', { job: idOf(context).job_id })],
    fields: [{ name: 'reason', label: context.t('console.field.reason'), kind: 'text', required: true, most: 200 }],
    back: at('jobs'),
  }),
  run: async (context) => {
    await giveUpJob(context.deps, parseInput(givenUpJob, { ...idOf(context), reason: context.fields.reason }))
    return undefined
  },
}

export const jobs: Section = {
  id: 'jobs',
  title: 'console.jobs.title',
  operation: 'GET /jobs',
  lists: [
    {
      path: '/jobs',
      operation: 'GET /jobs',
      title: 'console.jobs.title',
      lead: 'console.jobs.lead',
      filters: ({ t }) => [
        {
          name: 'failed',
          label: t('console.field.state'),
          kind: 'choice',
          choices: [['true', stateCell('failed', t).text]],
        },
        { name: 'task', label: t('console.field.task'), kind: 'text', most: 64 },
      ],
      read: readPage,
    },
  ],
  actions: [retry, giveUp],
}

import { givenUpJob, giveUpJob, jobFilter, listJobs, oneJob, retryJob } from '../../jobs/index.ts'
import { parseInput } from '../../lib/json/input.ts'
import type { Action, Asking, Section } from '../shown.ts'
import { at, code, link, orDash, stateCell, text, time } from '../texts.ts'

const pageOf = (job_id: string, what: string): string => at('jobs', job_id, what)

const readPage = async ({ deps, t, fields }: Asking) => {
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

const idOf = ({ params }: Asking) => parseInput(oneJob, { job_id: params.job_id })

const retry: Action = {
  path: '/jobs/:job_id/retry',
  operation: 'POST /jobs/:job_id/retry',
  title: 'console.jobs.retry',
  ask: async (asking) => {
    const { job_id } = idOf(asking)
    return {
      says: [asking.t('console.jobs.retry_says', { job: job_id })],
      back: at('jobs'),
      other: {
        operation: 'POST /jobs/:job_id/give-up',
        href: pageOf(job_id, 'give-up'),
        text: asking.t('console.jobs.give_up'),
      },
    }
  },
  run: async (asking) => {
    await retryJob(asking.deps, idOf(asking))
    return undefined
  },
}

const giveUp: Action = {
  path: '/jobs/:job_id/give-up',
  operation: 'POST /jobs/:job_id/give-up',
  title: 'console.jobs.give_up',
  ask: async (asking) => ({
    says: [asking.t('console.jobs.give_up_says', { job: idOf(asking).job_id })],
    fields: [{ name: 'reason', label: asking.t('console.field.reason'), kind: 'text', required: true, most: 200 }],
    back: at('jobs'),
  }),
  run: async (asking) => {
    await giveUpJob(asking.deps, parseInput(givenUpJob, { ...idOf(asking), reason: asking.fields.reason }))
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

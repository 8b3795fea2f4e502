import { action } from '../../platform/lib/action.ts'
import { giveUpJob, listJobs, removeJob, retryJob, showJob } from './job.ts'

export const JOB_ACTIONS = [
  action({
    route: 'GET /jobs',
    command: 'job list',
    role: 'viewer',
    run: listJobs,
    list: {
      rows: 'jobs',
      columns: [
        'job_id',
        'state',
        { name: 'attempts', of: ({ attempts, max_attempts }) => `${attempts} / ${max_attempts}` },
        'run_at',
        { name: 'job', of: ({ task, key }) => key ?? task },
        'last_error',
      ],
    },
  }),
  action({ route: 'GET /jobs/:job_id', command: 'job show', role: 'viewer', run: showJob }),
  action({
    route: 'POST /jobs/:job_id/retry',
    command: 'job retry',
    role: 'support',
    after: '/jobs', // it may be done before its page is shown
    run: retryJob,
    offered: ({ state }) => state !== 'running',
  }),
  action({
    route: 'POST /jobs/:job_id/give-up',
    command: 'job give-up',
    role: 'support',
    run: giveUpJob,
    dangerous: true,
    offered: ({ state }) => state === 'waiting',
  }),
  action({
    route: 'POST /jobs/:job_id/remove',
    command: 'job remove',
    role: 'support',
    after: '/jobs',
    run: removeJob,
    dangerous: true,
    offered: ({ state }) => state === 'failed',
  }),
]

import { action } from '../../platform/lib/action.ts'
import { giveUpJob, listJobs, retryJob } from './job.ts'

const mayChange = ({ state }: Readonly<Record<string, unknown>>): boolean => state !== 'running'

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
  action({
    route: 'POST /jobs/:job_id/retry',
    command: 'job retry',
    role: 'support',
    run: retryJob,
    offered: mayChange,
  }),
  action({
    route: 'POST /jobs/:job_id/give-up',
    command: 'job give-up',
    role: 'support',
    run: giveUpJob,
    offered: mayChange,
  }),
]

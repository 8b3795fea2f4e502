export { jobCounts } from './job.ts'
export { JOB_ACTIONS } from './operator.ts'
export { type Purged, purge, purgeOptions } from './purge.ts'
export { type JobWorker, startWorker } from './worker.ts'

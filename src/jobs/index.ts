export { givenUpJob, giveUpJob, jobCounts, jobFilter, listJobs, oneJob, retryJob } from './job.ts'
export { type Purged, purge, purgeOptions } from './purge.ts'
export { type JobWorker, startWorker } from './worker.ts'

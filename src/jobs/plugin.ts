import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { jobRoutes } from './routes.ts'

/** Routes with which operators manage durable jobs. They are run by src/jobs/worker.ts. */
export const jobsRoom = operatorRoutes(jobRoutes)

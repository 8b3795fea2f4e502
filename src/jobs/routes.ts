import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { givenUpJob, giveUpJob, jobFilter, listJobs, oneJob, retryJob } from './job.ts'

interface OneJobRoute {
  Params: { job_id: string }
}

/** The operator's routes for durable jobs, below /admin/v1. */
export function jobRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/jobs', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(request, reply, await listJobs(depsFor(request), parseInput(jobFilter, request.query))),
  )

  app.post<OneJobRoute>('/jobs/:job_id/retry', async (request, reply) =>
    answerSuccess(request, reply, await retryJob(depsFor(request), parseInput(oneJob, request.params))),
  )

  app.post<OneJobRoute>('/jobs/:job_id/give-up', async (request, reply) => {
    const input = parseInput(givenUpJob, { ...((request.body ?? {}) as object), ...request.params })
    return answerSuccess(request, reply, await giveUpJob(depsFor(request), input))
  })
}

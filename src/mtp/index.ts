import rateLimit from '@fastify/rate-limit'
import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { MOUNT } from './endpoints.ts'
import { tooManyCalls } from './errors.ts'
import { partnerRoutes } from './routes.ts'

const TESTS_PER_MINUTE = 60

/** B1: what partners call, under each of MTP_PATH_PREFIXES. The signature covers the path as the caller sent it. */
export const mtpRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.decorateRequest('caller', null)
  await app.register(rateLimit, { global: false })
  // One count an address, whatever prefix it calls under.
  const limitTests = app.rateLimit({
    max: TESTS_PER_MINUTE,
    timeWindow: '1 minute',
    errorResponseBuilder: (_request, { ttl }) => tooManyCalls(Math.ceil(ttl / 1000)),
  })
  for (const prefix of deps.config.MTP_PATH_PREFIXES) {
    await app.register(partnerRoutes, { deps, limitTests, prefix: prefix + MOUNT })
  }
}

import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { MOUNT } from './endpoints.ts'
import { partnerRoutes } from './routes.ts'

/** B1: what partners call, under each of MTP_PATH_PREFIXES. The signature covers the path as the caller sent it. */
export const mtpRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.decorateRequest('caller', null)
  for (const prefix of deps.config.MTP_PATH_PREFIXES) {
    await app.register(partnerRoutes, { deps, prefix: prefix + MOUNT })
  }
}

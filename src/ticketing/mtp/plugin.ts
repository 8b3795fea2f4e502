import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { mountsOf, prefixOf } from '../../platform/config/mounts.ts'
import { limitRate } from '../../platform/throttle/index.ts'
import { tooManyCalls } from '../mws-wire/index.ts'
import type { NoticeDeps } from './deps.ts'
import { noticeRoutes, REJECTIONS } from './routes.ts'
import { unknownPartnerPaths, unknownSignedPaths } from './unknown-routes.ts'

const TESTS_PER_MINUTE = 60

/** B1: the endpoints that partners call, under each of MTP_PATH_PREFIXES. The signature covers the path as the caller sent it. */
export const mtpRoom: FastifyPluginAsync<{ deps: NoticeDeps }> = async (app, { deps }) => {
  // One count per address, whatever the prefix.
  const limitTests = limitRate(app, { kind: 'signature test', perMinute: TESTS_PER_MINUTE, refuse: tooManyCalls })
  for (const mount of mountsOf(deps.config.MTP_PATH_PREFIXES)) {
    await app.register(noticeRoutes, { deps, limitTests, prefix: mount })
    const prefix = prefixOf(mount)
    if (prefix !== undefined) await app.register(unknownPartnerPaths, { deps, policy: REJECTIONS, prefix })
  }
}

/** For the whole app, before its rooms. */
export const answerUnknownSignedPaths = (app: FastifyInstance, deps: NoticeDeps): void =>
  unknownSignedPaths(app, { deps, policy: REJECTIONS })

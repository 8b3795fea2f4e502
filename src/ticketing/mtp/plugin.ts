import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { isForPartners, MOUNT, mountsOf, prefixOf, spelled } from '../../platform/config/mounts.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { AreaB } from '../../platform/lib/web/bad-request.ts'
import { showContentType } from '../../platform/lib/web/read-body.ts'
import { pathAsSent } from '../../platform/lib/web/request-target.ts'
import { limitRate } from '../../platform/throttle/index.ts'
import { answerRejection } from '../mws/index.ts'
import { CallRejected, failureCodeOf, noSuchPath, tooManyCalls } from '../mws-wire/index.ts'
import type { NoticeDeps } from './accept-once.ts'
import { noticeRoutes, REJECTIONS } from './routes.ts'

/** Below a prefix there is only B1, so whoever calls another path there is a partner's program. */
const unknownPartnerPaths: FastifyPluginAsync<{ deps: NoticeDeps }> = async (app, { deps }) => {
  // Programs written for the first version of the protocol call paths below it.
  const first = `${spelled(app.prefix)}/lv/`
  showContentType(app)
  app.setErrorHandler(answerRejection(deps, REJECTIONS))
  app.setNotFoundHandler(({ raw }) => {
    if (!raw.url?.startsWith(first)) throw noSuchPath()
    throw new CallRejected(localized('first-version', { mount: app.prefix + MOUNT }), { status: 404 })
  })
}

/**
 * Everywhere else a partner's program is recognised by its Authorization header. This is a hook on the whole app, so
 * that it runs before the guards of other rooms. Paths that exist for any method are left to those.
 */
export function answerUnknownSignedPaths(app: FastifyInstance, deps: NoticeDeps): void {
  const answer = answerRejection(deps, REJECTIONS)
  const isOwn = isForPartners(deps.config.MTP_PATH_PREFIXES)
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || !/^MWS(?:\s|$)/i.test(request.headers.authorization ?? '')) return done()
    const path = pathAsSent(request.raw.url ?? '')
    if (isOwn(path) || app.allowedMethods(path).length > 0) return done()
    return answer(noSuchPath(), request, reply).catch(done)
  })
}

/** The code of area B for a request that never reaches its routes; the headless API of the sandbox has the same. */
export function areaBOf(prefixes: readonly string[]): AreaB {
  const isOwn = isForPartners(prefixes)
  return (target) => {
    const path = pathAsSent(target)
    return isOwn(path) || `${path}/`.startsWith('/sandbox/api/') ? failureCodeOf(path) : undefined
  }
}

const TESTS_PER_MINUTE = 60

/** B1, the endpoints that partners call, under each of MTP_PATH_PREFIXES. Signatures cover the path as sent. */
export const mtpRoom: FastifyPluginAsync<{ deps: NoticeDeps }> = async (app, { deps }) => {
  // Counted per address, across prefixes.
  const limitTests = limitRate(app, { kind: 'signature test', perMinute: TESTS_PER_MINUTE, refuse: tooManyCalls })
  for (const mount of mountsOf(deps.config.MTP_PATH_PREFIXES)) {
    await app.register(noticeRoutes, { deps, limitTests, prefix: mount })
    const prefix = prefixOf(mount)
    if (prefix !== undefined) await app.register(unknownPartnerPaths, { deps, prefix })
  }
}

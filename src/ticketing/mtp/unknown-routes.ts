import type { FastifyInstance } from 'fastify'
import { MOUNT, mountsOf, prefixOf, spelled } from '../../platform/config/mounts.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { pathAsSent } from '../../platform/lib/web/request-target.ts'
import { answerRejection, type RejectionPolicy, rejectInEnvelope } from '../mws/index.ts'
import { CallRejected, noSuchPath } from '../mws-wire/index.ts'
import type { NoticeDeps } from './deps.ts'

/** What is answered to partners' programs that call a path which does not exist. */

interface Options {
  readonly deps: NoticeDeps
  readonly policy: RejectionPolicy
}

/** Below a prefix there is only B1: a caller of another path there is a partner's program. */
export async function unknownPartnerPaths(app: FastifyInstance, { deps, policy }: Options): Promise<void> {
  const first = `${spelled(app.prefix)}/lv/`
  rejectInEnvelope(app, deps, policy)
  app.setNotFoundHandler(({ raw }) => {
    throw raw.url?.startsWith(first) ? firstVersion(app.prefix + MOUNT) : noSuchPath()
  })
}

/** Programs that were written for the first version of the protocol call below `/lv`. */
function firstVersion(mount: string): CallRejected {
  return new CallRejected(localized('first-version', { mount }), { status: 404 })
}

/**
 * Everywhere else a partner's program is known by its Authorization header. A hook of the whole app, so that it comes
 * before what rooms ask of their own callers. Paths that exist, with whatever method, are theirs.
 */
export function unknownSignedPaths(app: FastifyInstance, { deps, policy }: Options): void {
  const answer = answerRejection(deps, policy)
  const own = mountsOf(deps.config.MTP_PATH_PREFIXES).flatMap((mount) => [mount, prefixOf(mount) ?? mount])
  const below = [...new Set(own)].map((path) => `${spelled(path)}/`)
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404 || !/^MWS(?:\s|$)/i.test(request.headers.authorization ?? '')) return done()
    const path = pathAsSent(request.raw.url ?? '')
    if (below.some((start) => path.startsWith(start)) || app.allowedMethods(path).length > 0) return done()
    return answer(noSuchPath(), request, reply).catch(done)
  })
}

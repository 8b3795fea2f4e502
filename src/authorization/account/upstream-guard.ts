import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { FLOW_S, newBrowserMark, type UpstreamDeps } from '../upstream/index.ts'
import { endOwnSession, sessionCookie } from './session.ts'
import { endSessionThere } from './upstream-sign-in.ts'

/** Tells this browser from others on its way to the platform's OpenID provider and back; one for all its tabs. */
export const browserMark = ({ config }: Deps) => {
  const cookie = ownCookie(config.PUBLIC_URL, { name: 'gatehouse_upstream', maxAgeS: FLOW_S })
  return {
    read: (request: FastifyRequest): string | undefined => cookie.read(request),
    /** The browser's own, or a new one; kept for the next half an hour. */
    keep(request: FastifyRequest, reply: FastifyReply): string {
      const mark = cookie.read(request) ?? newBrowserMark()
      cookie.set(reply, mark)
      return mark
    },
  }
}

/** Ends the session of this browser, and returns where it goes next: to `goOn`, by way of the provider where it began at one. */
export async function signOut(
  deps: UpstreamDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  goOn: string,
): Promise<string> {
  const acting = { ...deps, actor: actorOf(request, 'user') }
  const cookie = sessionCookie(deps.config)
  const session = cookie.read(request)
  cookie.clear(reply)
  if (deps.upstream) {
    return endSessionThere(acting, { session, mark: browserMark(deps).keep(request, reply), goOn })
  }
  await endOwnSession(acting, session)
  return goOn
}

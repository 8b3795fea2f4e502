import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../platform/config/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { type OwnCookie, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { retryAfter, textsFor } from '../../platform/lib/web/page.ts'
import { DEVICE_LIFETIME_S, rememberDevice } from '../../platform/throttle/index.ts'
import { FLOW_S, newBrowserMark, type UpstreamDeps } from '../upstream/index.ts'
import { CodesUsedUp, SignInRefused } from './errors.ts'
import { endThisSession, sessionCookie } from './session.ts'
import { accountOf } from './sign-in.ts'
import { endSessionThere } from './upstream-sign-in.ts'
import type { SignInBrowser } from './wire.ts'

export const SECOND_STEP = '/sign-in/code'
/** Below /sign-in, so that the device cookie is sent there. */
export const FORGOTTEN = '/sign-in/forgotten'

/** Marks a browser that has signed in before (src/platform/throttle/device.ts). */
export const deviceCookieOf = ({ PUBLIC_URL }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_device', path: '/sign-in', maxAgeS: DEVICE_LIFETIME_S })

/** Whose password was right, until the second step. A session cookie, since others may use the browser next. */
export const secondStepCookie = ({ PUBLIC_URL }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_second_step', path: '/sign-in' })

/** What is read from the browser at a sign-in, and the cookies set after it. */
export function signInBrowser(deps: Deps) {
  const session = sessionCookie(deps.config)
  const device = deviceCookieOf(deps.config)
  return {
    read: (request: FastifyRequest): SignInBrowser => ({
      address: request.ip,
      userAgent: request.headers['user-agent'],
      device: device.read(request),
      formerSession: session.read(request),
    }),
    keep(
      request: FastifyRequest,
      reply: FastifyReply,
      opened: { readonly session: string; readonly passport: string },
    ) {
      session.set(reply, opened.session)
      device.set(reply, rememberDevice(deps, accountOf(opened.passport), device.read(request)))
    },
  }
}

/**
 * The text for a refused sign-in: wrong credentials (`wrong`), or too many attempts. Sets the status, and notes the
 * reason for the log. Rethrows anything but SignInRefused.
 */
export function alertOf({ clock }: Deps, request: FastifyRequest, reply: FastifyReply, thrown: unknown, wrong: string) {
  if (!(thrown instanceof SignInRefused)) throw thrown
  noteForLog(request, { detail: thrown.message })
  const t = textsFor(request)
  const { retryAt } = thrown
  if (!retryAt) {
    reply.code(403)
    return t(wrong)
  }
  const when = retryAfter(request, reply, retryAt, clock.now())
  return t(thrown instanceof CodesUsedUp ? 'second_step.used_up' : 'sign_in.limited', { when })
}

/** Identifies the browser, all its tabs alike, on the way to the OpenID provider and back. */
export const browserMark = ({ config }: Deps) => {
  const cookie = ownCookie(config.PUBLIC_URL, { name: 'gatehouse_upstream', maxAgeS: FLOW_S })
  return {
    read: (request: FastifyRequest): string | undefined => cookie.read(request),
    /** Returns the existing mark or a new one, and renews its cookie. */
    keep(request: FastifyRequest, reply: FastifyReply): string {
      const mark = cookie.read(request) ?? newBrowserMark()
      cookie.set(reply, mark)
      return mark
    },
  }
}

/** Ends this browser's session; returns where to redirect: to `goOn`, via the provider if the session began there. */
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
  await endThisSession(acting, session)
  return goOn
}

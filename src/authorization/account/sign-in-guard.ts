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
/** The path of the page for a forgotten password; the cookie below is sent there. */
export const FORGOTTEN = '/sign-in/forgotten'

/** Marks the browser as one that has signed in before (src/platform/throttle/device.ts). */
export const deviceCookieOf = ({ PUBLIC_URL }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_device', path: '/sign-in', maxAgeS: DEVICE_LIFETIME_S })

/** Whose password was right, until the second step is done; ends with the browser, which others may use too. */
export const secondStepCookie = ({ PUBLIC_URL }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_second_step', path: '/sign-in' })

/** The browser in which somebody signs in: what it brings along, and what it keeps then. */
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
 * Why somebody was not signed in: what was typed is wrong, or there were too many failures. Sets the status of the page that
 * is shown again, and notes the reason for the log. Throws again whatever is no SignInRefused.
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
  await endThisSession(acting, session)
  return goOn
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../platform/config/index.ts'
import { hasPasskeys } from '../../platform/config/people.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { openSignedText, signedText } from '../../platform/lib/crypto/carried-text.ts'
import type { Keys } from '../../platform/lib/crypto/keys.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { type OwnCookie, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { afterSignIn, localPath } from '../../platform/lib/web/return-to.ts'
import { countOwnChange, DEVICE_LIFETIME_S, rememberDevice, signInAlert } from '../../platform/throttle/index.ts'
import { FLOW_S, newBrowserMark, type UpstreamDeps } from '../upstream/index.ts'
import { CodesUsedUp } from './errors.ts'
import { findFactors } from './factor-store.ts'
import { endThisSession, findSession, type SignedIn, sessionCookie } from './session.ts'
import { accountOf } from './sign-in.ts'
import { endSessionThere } from './upstream-sign-in.ts'
import { type SignInBrowser, signInQuery } from './wire.ts'

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
    keep(request: FastifyRequest, reply: FastifyReply, opened: { session: string; passport: string }) {
      session.set(reply, opened.session)
      device.set(reply, rememberDevice(deps, accountOf(opened.passport), device.read(request)))
    },
  }
}

/** The text for a refused sign-in, whose status it sets. Rethrows anything but SignInRefused. */
export const alertOf = (deps: Deps, request: FastifyRequest, reply: FastifyReply, thrown: unknown, wrong: string) =>
  signInAlert(deps, request, reply, thrown, {
    wrong,
    ...(thrown instanceof CodesUsedUp ? { limited: 'second_step.used_up' } : {}),
  })

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
export async function signOut(deps: UpstreamDeps, request: FastifyRequest, reply: FastifyReply, goOn: string) {
  const acting = { ...deps, actor: actorOf(request, 'user') }
  const cookie = sessionCookie(deps.config)
  const session = cookie.read(request)
  let next = goOn
  if (deps.upstream)
    next = await endSessionThere(acting, { session, mark: browserMark(deps).keep(request, reply), goOn })
  else await endThisSession(acting, session)
  cookie.clear(reply) // last: if an outage keeps the session, the cookie is needed to end it
  return next
}

// ---- changes that need a fresh sign-in

/** How long after a sign-in security settings may be changed, in seconds. */
const FRESH_S = 900

/** With an authenticator, a session opened by password alone is not fresh: it predates the authenticator. */
export async function isFresh({ config, clock, db }: Deps, session: SignedIn): Promise<boolean> {
  const { authenticatedAt } = session
  if (authenticatedAt === null || addSeconds(authenticatedAt, FRESH_S) <= clock.now()) return false
  if (session.amr.includes('mfa') || config.SECOND_FACTOR === 'off') return true
  return (await findFactors(db, session)).totpSince === null
}

/** Redirects to the sign-in page, which leads back to `path`. */
export function askToSignIn(reply: FastifyReply, path: string, confirm: boolean): FastifyReply {
  const query = new URLSearchParams({
    return_to: afterSignIn(reply.request, path),
    ...(confirm ? { confirm: '1' } : {}),
  })
  return seeOther(reply, `/sign-in?${query}`)
}

/** The session, if fresh; a POST counts as a change. Otherwise undefined, after a redirect to the sign-in page. */
export async function freshSession(deps: Deps, request: FastifyRequest, reply: FastifyReply, path: string) {
  const session = await findSession(deps, sessionCookie(deps.config).read(request))
  if (session && (await isFresh(deps, session))) {
    if (request.method === 'POST') await countOwnChange(deps, session)
    return session
  }
  askToSignIn(reply, path, session !== null)
  return undefined
}

/** `not-used`: the person has one. `used` also if the provider is responsible for it, or none is offered. */
async function secondFactor({ config, db }: Deps, session: SignedIn): Promise<'used' | 'not-used' | 'none'> {
  if (session.amr.includes('mfa') || session.fromUpstream) return 'used'
  if (config.SECOND_FACTOR === 'off' && !hasPasskeys(config)) return 'used'
  const { totpSince, passkeys } = await findFactors(db, session)
  return totpSince || passkeys > 0 ? 'not-used' : 'none'
}

/** Step-up authentication, for other rooms. */
export const STEP_UP = { isFresh, secondFactor, ask: askToSignIn }

/**
 * The app that the sign-in page shows ("to continue to …"). Its name is signed together with the return address, so
 * that nobody can craft a link to our page which names an app that did not send the person there.
 */

interface SigningDeps {
  readonly keys: Keys
  readonly config: { readonly PUBLIC_URL: string }
}

const purposeOf = (returnTo: string): string => `sign-in for\n${returnTo}`

/** Path and query of the sign-in page. Names the app only if it is live, so reviewed; `more` adds parameters. */
export function signInFor(
  { keys, config }: SigningDeps,
  { name, stage }: { readonly name: string; readonly stage: string },
  returnTo: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const path = localPath(returnTo, config.PUBLIC_URL)
  const app = stage === 'live' && { app: signedText(keys, purposeOf(path), name) }
  return `/sign-in?${new URLSearchParams({ return_to: path, ...app, ...more })}`
}

/** What the pages of a sign-in pass on: the return address, and the app if it is signed for that address. */
export function carriedOf({ keys, config }: SigningDeps, given: unknown) {
  const { return_to, app: signedApp = '' } = signInQuery.parse(given)
  const returnTo = localPath(return_to, config.PUBLIC_URL)
  const appName = readAppName(keys, signedApp, returnTo)
  const app = appName === undefined ? '' : signedApp
  const carried = new URLSearchParams({ return_to: returnTo, ...(app ? { app } : {}) })
  return { returnTo, app, appName, carried: String(carried) }
}

/** The app's name; undefined if the signature is invalid, or made for another return address. */
export const readAppName = (keys: Keys, text: string, returnTo: string): string | undefined =>
  openSignedText(keys, purposeOf(returnTo), text)?.text

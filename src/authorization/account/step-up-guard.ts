import type { FastifyReply, FastifyRequest } from 'fastify'
import { hasPasskeys } from '../../platform/config/people.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { countOwnChange } from '../../platform/throttle/index.ts'
import { findFactors } from './factor-store.ts'
import { findSession, type SignedIn, sessionCookie } from './session.ts'

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
  const query = new URLSearchParams({ return_to: path, ...(confirm ? { confirm: '1' } : {}) })
  return seeOther(reply, `/sign-in?${query}`)
}

/**
 * The session, if fresh enough for a sensitive action; counts a POST as a change. Otherwise sends a redirect to the
 * sign-in page, which leads back to `path`, and returns undefined.
 */
export async function freshSession(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
): Promise<SignedIn | undefined> {
  const session = await findSession(deps, sessionCookie(deps.config).read(request))
  if (session && (await isFresh(deps, session))) {
    if (request.method === 'POST') await countOwnChange(deps, session)
    return session
  }
  askToSignIn(reply, path, session !== null)
  return undefined
}

/**
 * `used`: signed in with a second factor; `not-used`: has one, but did not use it; `none`: has none. Counts as used if
 * the provider is responsible for it, or none is offered.
 */
async function secondFactor({ config, db }: Deps, session: SignedIn): Promise<'used' | 'not-used' | 'none'> {
  if (session.amr.includes('mfa') || session.fromUpstream) return 'used'
  if (config.SECOND_FACTOR === 'off' && !hasPasskeys(config)) return 'used'
  const { totpSince, passkeys } = await findFactors(db, session)
  return totpSince || passkeys > 0 ? 'not-used' : 'none'
}

/** Step-up authentication, for other rooms. */
export const STEP_UP = { isFresh, secondFactor, ask: askToSignIn }

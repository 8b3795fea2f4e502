import { recordAudit } from '../../platform/audit/index.ts'
import type { Config } from '../../platform/config/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { issueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { type OwnCookie, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { BY_CLIENT_SECRET } from '../../ticketing/members/index.ts'
import * as store from './session-store.ts'

/** The cookie of a sandbox session, separate from users' sessions. */
export const sessionCookie = ({ PUBLIC_URL, SESSION_LIFETIME_S }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_sandbox', path: '/sandbox', maxAgeS: SESSION_LIFETIME_S })

export interface SignedInPartner extends Readonly<store.SessionRow> {
  readonly sessionHash: Buffer
}

/**
 * Opens a session for SESSION_LIFETIME_S and returns the cookie's value; only a keyed hash is stored. It ends early
 * when its clientSecret ends or a member joins, or when the member's password changes.
 */
export async function startPartnerSession(deps: Deps, partnerId: bigint, of: store.SessionOf): Promise<string> {
  const now = deps.clock.now()
  const expiresAt = addSeconds(now, deps.config.SESSION_LIFETIME_S)
  const session = issueToken(deps.keys, { prefix: PREFIX.sandboxSession, routingKey: 0, expiresAt })
  await store.insertSession(deps.db, { sessionHash: session.hash, partnerId, of, expiresAt }, now)
  return session.text
}

/**
 * The signed-in partner, unless the session has expired or ended (see above) or the partner is suspended. A forged or
 * expired cookie costs no statement, any other exactly one.
 */
export async function findPartnerSession(deps: Deps, cookie: string | undefined): Promise<SignedInPartner | null> {
  const now = deps.clock.now()
  const read = parseToken(deps.keys, PREFIX.sandboxSession, cookie ?? '')
  if (!read || read.expiresAt <= now) return null
  const session = await store.findSession(deps.db, read.hash, now)
  return session ? { ...session, sessionHash: read.hash } : null
}

export async function endPartnerSession(deps: Deps, cookie: string | undefined): Promise<void> {
  const read = parseToken(deps.keys, PREFIX.sandboxSession, cookie ?? '')
  if (read) await store.deleteSession(deps.db, read.hash)
}

/** Ends the session at the person's request. */
export const signOutPartner = (deps: Deps, { partnerId, memberId, sessionHash }: SignedInPartner): Promise<void> =>
  inTransaction(deps, async (inside, db) => {
    if ((await store.deleteSession(db, sessionHash)) === 0) return
    const actor = { ...deps.actor, kind: 'partner', name: memberId ?? BY_CLIENT_SECRET } as const
    await recordAudit(inside, { event: 'partner_signed_out', actor, partnerId })
  })

import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { issueToken, PREFIX, type Prefix, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import type { Operator } from '../../platform/lib/web/admin-auth.ts'
import * as store from './session-store.ts'

/** The last use of a session or token is stored at most this often. */
export const TOUCH_EVERY_S = 60

/** Who is signed in to the console: an operator, or the holder of ADMIN_TOKEN, who sets up a new installation. */
export interface ConsoleOperator extends Operator {
  /** The password was right, but there is no authenticator yet: only adding one is allowed. */
  readonly pending: boolean
  /** Hash of the session id, 32 bytes, to which an uploaded file is bound between its two forms. */
  readonly sessionHash: Buffer
}

const newSession = ({ keys, config }: Deps, prefix: Prefix, now: Date) =>
  issueToken(keys, { prefix, routingKey: 0, expiresAt: addSeconds(now, config.OPERATOR_SESSION_S) })

/** Opens a session and returns its id, the cookie's value; only a keyed hash of it is stored. */
export async function startOperatorSession(deps: Deps, owner: store.SessionOwner, pending: boolean): Promise<string> {
  const now = deps.clock.now()
  const session = newSession(deps, PREFIX.operatorSession, now)
  await store.insertSession(deps.db, session, owner, pending, now)
  return session.text
}

export async function startAdminTokenSession(deps: Deps, adminToken: string): Promise<string> {
  const now = deps.clock.now()
  const session = newSession(deps, PREFIX.adminTokenSession, now)
  await store.insertAdminTokenSession(deps.db, session, store.markOf(deps.keys, adminToken), now)
  return session.text
}

/**
 * Who is signed in. A session ends after OPERATOR_SESSION_S, after OPERATOR_IDLE_S without a request, when the password or
 * ADMIN_TOKEN changes, and when the operator is disabled. A forged cookie costs no statement.
 */
export async function findConsoleSession(deps: Deps, cookie = ''): Promise<ConsoleOperator | null> {
  const { db, keys } = deps
  const terms = store.sessionTerms(deps)
  const { now } = terms
  const own = parseToken(keys, PREFIX.operatorSession, cookie)
  const read = own ?? parseToken(keys, PREFIX.adminTokenSession, cookie)
  if (!read || read.expiresAt <= now) return null
  const known = own
    ? await store.findSession(db, own.hash, terms)
    : await store.findAdminTokenSession(db, read.hash, terms)
  if (!known) return null
  const { last_seen_at, ...operator } = known
  if (last_seen_at < addSeconds(now, -TOUCH_EVERY_S)) await store.touchSession(db, operator.name, read.hash, now)
  return { ...operator, sessionHash: read.hash }
}

export async function endConsoleSession(deps: Deps, cookie: string | undefined): Promise<void> {
  const session = await findConsoleSession(deps, cookie)
  if (!session) return
  const { name, sessionHash } = session
  await inTransaction(deps, async (inside, db) => {
    if ((await store.deleteSession(db, name, sessionHash)) === 0) return
    await recordAudit(inside, { event: 'operator_signed_out', target: `operator:${name}` })
  })
}

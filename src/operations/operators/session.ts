import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { issueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import type { Operator } from '../../platform/lib/web/admin-auth.ts'
import * as store from './session-store.ts'

/** The last use of a session or token is stored at most this often. */
export const TOUCH_EVERY_S = 60

/** Who uses the console. */
export interface ConsoleOperator extends Operator {
  /** The password was right, but there is no authenticator yet: only adding one is allowed. */
  readonly pending: boolean
  /** Hash of the session id, 32 bytes, to which forms are bound. */
  readonly sessionHash: Buffer
}

export interface SignedInOperator extends ConsoleOperator {
  readonly operatorId: string
  readonly signedInAt: Date
}

interface SessionOwner {
  readonly operator_id: string
  readonly credential_version: number
}

/** Opens a session and returns its id, the cookie's value; only a keyed hash of it is stored. */
export async function startOperatorSession(deps: Deps, owner: SessionOwner, pending: boolean): Promise<string> {
  const now = deps.clock.now()
  const expiresAt = addSeconds(now, deps.config.OPERATOR_SESSION_S)
  const session = issueToken(deps.keys, { prefix: PREFIX.operatorSession, routingKey: 0, expiresAt })
  const { operator_id, credential_version } = owner
  await store.insertSession(
    deps.db,
    { hash: session.hash, operator_id, credential_version, pending, expires_at: session.expiresAt },
    now,
  )
  return session.text
}

/**
 * The signed-in operator. A session ends after OPERATOR_SESSION_S, after OPERATOR_IDLE_S without a request, when the
 * password changes, and when the operator is disabled. A forged cookie costs no statement.
 */
export async function findOperatorSession(deps: Deps, cookie: string | undefined): Promise<SignedInOperator | null> {
  const { db, keys, clock, config } = deps
  const now = clock.now()
  const read = parseToken(keys, PREFIX.operatorSession, cookie ?? '')
  if (!read || read.expiresAt <= now) return null
  const known = await store.findSession(db, read.hash, now, addSeconds(now, -config.OPERATOR_IDLE_S))
  if (!known) return null
  if (known.last_seen_at < addSeconds(now, -TOUCH_EVERY_S)) await store.touchSession(db, 'operator', read.hash, now)
  const { operator_id: operatorId, name, role, pending, created_at: signedInAt } = known
  return { operatorId, name, role, pending, signedInAt, sessionHash: read.hash }
}

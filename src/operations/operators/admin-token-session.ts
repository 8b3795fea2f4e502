import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { equalSecrets, type Keys } from '../../platform/lib/crypto/keys.ts'
import { issueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import type { SignInSource } from '../../platform/throttle/index.ts'
import { type ConsoleOperator, findOperatorSession, TOUCH_EVERY_S } from './session.ts'
import * as store from './session-store.ts'
import { recordFailure } from './sign-in.ts'
import { operatorLimits } from './totp.ts'
import { ADMIN_TOKEN_NAME } from './wire.ts'

/** Console sessions for the holder of ADMIN_TOKEN, who sets up a new installation. */

const markOf = ({ storage }: Keys, token: string): Buffer => hmacSha256(storage, `ADMIN_TOKEN\n${token}`)

/** Opens a session and returns its id, the cookie's value. Throws OperatorSignInRefused, also without ADMIN_TOKEN. */
export async function signInWithAdminToken(
  deps: Deps,
  { token, ...browser }: SignInSource & { readonly token: string },
): Promise<string> {
  const { ADMIN_TOKEN, OPERATOR_SESSION_S } = deps.config
  const limits = await operatorLimits(deps, { name: ADMIN_TOKEN_NAME, ...browser, isUnguessable: true })
  await limits.refuseExhausted()
  if (ADMIN_TOKEN === undefined || !equalSecrets(token, ADMIN_TOKEN)) {
    throw await limits.failed((locked) => recordFailure(deps, { by: 'token', locked }))
  }
  await limits.forget()
  const now = deps.clock.now()
  const expiresAt = addSeconds(now, OPERATOR_SESSION_S)
  const session = issueToken(deps.keys, { prefix: PREFIX.adminTokenSession, routingKey: 0, expiresAt })
  await inTransaction(deps, async (inside, db) => {
    const actor = { ...deps.actor, kind: 'operator', name: ADMIN_TOKEN_NAME } as const
    const target = `operator:${ADMIN_TOKEN_NAME}`
    await recordAudit(inside, { event: 'operator_signed_in', actor, target, detail: { by: 'token' } })
    const kept = { hash: session.hash, mark: markOf(deps.keys, ADMIN_TOKEN) }
    await store.insertAdminTokenSession(db, kept, now, expiresAt)
  })
  return session.text
}

/** Who is signed in to the console: an operator or the holder of ADMIN_TOKEN. A forged cookie costs no statement. */
export const findConsoleSession = async (deps: Deps, cookie: string | undefined): Promise<ConsoleOperator | null> =>
  (await findOperatorSession(deps, cookie)) ?? (await findAdminTokenSession(deps, cookie))

async function findAdminTokenSession(deps: Deps, cookie: string | undefined): Promise<ConsoleOperator | null> {
  const { db, keys, clock, config } = deps
  const now = clock.now()
  const read = parseToken(keys, PREFIX.adminTokenSession, cookie ?? '')
  if (!read || read.expiresAt <= now || config.ADMIN_TOKEN === undefined) return null
  const key = { hash: read.hash, mark: markOf(keys, config.ADMIN_TOKEN) }
  const known = await store.findAdminTokenSession(db, key, now, addSeconds(now, -config.OPERATOR_IDLE_S))
  if (!known) return null
  if (known.last_seen_at < addSeconds(now, -TOUCH_EVERY_S)) await store.touchSession(db, 'adminToken', read.hash, now)
  return { name: ADMIN_TOKEN_NAME, role: 'admin', pending: false, sessionHash: read.hash }
}

export async function endConsoleSession(deps: Deps, cookie: string | undefined): Promise<void> {
  const session = await findConsoleSession(deps, cookie)
  if (!session) return
  const { name, sessionHash } = session
  await inTransaction(deps, async (inside, db) => {
    const of = name === ADMIN_TOKEN_NAME ? 'adminToken' : 'operator'
    if ((await store.deleteSession(db, of, sessionHash)) === 0) return
    await recordAudit(inside, { event: 'operator_signed_out', target: `operator:${name}` })
  })
}

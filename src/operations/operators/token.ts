import { randomUUID } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Config } from '../../platform/config/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds, DAY_S, wholeSecondsAfter } from '../../platform/lib/clock.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { issueToken, PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { allows, type Operator, type Role } from '../../platform/lib/web/admin-auth.ts'
import { lockExisting, refuseWithoutAdmin } from './change.ts'
import { noSuchToken, roleAboveOperator } from './errors.ts'
import { TOUCH_EVERY_S } from './session.ts'
import { findToken, insertToken, revokeToken, touchToken } from './token-store.ts'
import { ADMIN_TOKEN_NAME, type IssuedOperatorToken, newToken, type OperatorRow, oneToken } from './wire.ts'

const BEARER = /^Bearer +(\S+) *$/i

/** The token of an Authorization header; undefined if it is no bearer token. */
export const bearerOf = (authorization = ''): string | undefined => BEARER.exec(authorization)?.[1]

const isAdminToken = ({ ADMIN_TOKEN }: Pick<Config, 'ADMIN_TOKEN'>, bearer: string): boolean =>
  ADMIN_TOKEN !== undefined && equalSecrets(bearer, ADMIN_TOKEN)

/** Whether an Authorization header carries ADMIN_TOKEN; asks no database. */
export function hasAdminToken(config: Pick<Config, 'ADMIN_TOKEN'>, authorization: string | undefined): boolean {
  const bearer = bearerOf(authorization)
  return bearer !== undefined && isAdminToken(config, bearer)
}

const lower = (one: Role, other: Role): Role => (allows(one, other) ? other : one)

/** Who holds this bearer token: ADMIN_TOKEN, or a token of an operator. A forged token costs no statement. */
export async function findOperator({ config, db, keys, clock }: Deps, bearer: string): Promise<Operator | undefined> {
  if (isAdminToken(config, bearer)) return { name: ADMIN_TOKEN_NAME, role: 'admin' }
  const now = clock.now()
  const token = parseToken(keys, PREFIX.operatorToken, bearer)
  if (!token || token.expiresAt <= now) return undefined
  const held = await findToken(db, token.hash, now)
  if (!held) return undefined
  const stale = addSeconds(now, -TOUCH_EVERY_S)
  if (held.lastUsedAt === null || held.lastUsedAt < stale) await touchToken(db, token.hash, now, stale)
  return { name: held.name, role: lower(held.operatorRole, held.tokenRole) }
}

interface Wanted {
  readonly token_name: string
  readonly role: Role
  readonly days: number
}

/** In the transaction of `deps.db`, with a row in the audit log. */
export async function issueOperatorToken(
  deps: Deps,
  of: OperatorRow,
  { token_name, role, days }: Wanted,
): Promise<IssuedOperatorToken> {
  const { db, keys, clock } = deps
  const now = clock.now()
  const expiresAt = wholeSecondsAfter(now, days * DAY_S)
  const token = issueToken(keys, { prefix: PREFIX.operatorToken, routingKey: 0, expiresAt })
  const token_id = randomUUID()
  const { operator_id } = of
  await insertToken(db, { hash: token.hash, token_id, operator_id, name: token_name, role, expires_at: expiresAt }, now)
  const detail = { token_id, token_name, role, expires_at: expiresAt }
  await recordAudit(deps, { event: 'operator_token_made', target: `operator:${of.name}`, detail })
  return { token: token.text, token_id, expires_at: expiresAt }
}

/** A further token for an operator, of its role or a lower one. */
export const newOperatorToken = operation(
  newToken,
  (deps: Deps, { name, role, ...wanted }): Promise<IssuedOperatorToken> =>
    inTransaction(deps, async (inside, db) => {
      const operator = await lockExisting(db, name)
      if (role && !allows(operator.role, role)) throw roleAboveOperator(operator.role)
      return issueOperatorToken(inside, operator, { ...wanted, role: role ?? operator.role })
    }),
)

/** Revokes a token at once, except the last one with which an admin could sign in. */
export const revokeOperatorToken = operation(
  oneToken,
  (deps: Deps, { name, token_id }): Promise<{ token_id: string }> =>
    inTransaction(deps, (inside, db) =>
      refuseWithoutAdmin(deps, db, async () => {
        const operator = await lockExisting(db, name)
        if ((await revokeToken(db, operator.operator_id, token_id, deps.clock.now())) === 0) throw noSuchToken()
        const target = `operator:${operator.name}`
        await recordAudit(inside, { event: 'operator_token_revoked', target, detail: { token_id } })
        return { token_id }
      }),
    ),
)

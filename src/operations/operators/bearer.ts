import type { Config } from '../../platform/config/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { allows, type Operator, type Role } from '../../platform/lib/web/admin-auth.ts'
import { TOUCH_EVERY_S } from './session.ts'
import { findToken, touchToken } from './token-store.ts'
import { ADMIN_TOKEN_NAME } from './wire.ts'

const BEARER = /^Bearer +(\S+) *$/i

/** The bearer token of an Authorization header, if it has one. */
export const bearerOf = (authorization = ''): string | undefined => BEARER.exec(authorization)?.[1]

const isAdminToken = ({ ADMIN_TOKEN }: Pick<Config, 'ADMIN_TOKEN'>, bearer: string): boolean =>
  ADMIN_TOKEN !== undefined && equalSecrets(bearer, ADMIN_TOKEN)

/** Whether an Authorization header carries ADMIN_TOKEN; needs no database. */
export function hasAdminToken(config: Pick<Config, 'ADMIN_TOKEN'>, authorization: string | undefined): boolean {
  const bearer = bearerOf(authorization)
  return bearer !== undefined && isAdminToken(config, bearer)
}

const lower = (one: Role, other: Role): Role => (allows(one, other) ? other : one)

/** The operator of a bearer token, which may also be ADMIN_TOKEN. A forged token costs no statement. */
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

import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { grantableScopes } from '../../platform/lib/scope.ts'
import type { CallingApp } from '../registry/index.ts'
import { endGrant } from './grant.ts'
import { signInOfGrant } from './grant-store.ts'
import { findRefresh } from './refresh-store.ts'
import { deleteAccessToken } from './token-store.ts'

/** Revokes an access token alone, or a refresh token with its grant. Another app's token is left alone without saying so. */
export async function revokeToken(deps: Deps, app: CallingApp, text: string): Promise<void> {
  const { db, keys } = deps
  const access = parseToken(keys, PREFIX.accessToken, text)
  const actor = { ...deps.actor, kind: 'app', name: app.app_key } as const
  if (access) {
    const { routingKey } = access
    await inPersonTransaction(deps, routingKey, async (inside, tx) => {
      const token = { ...access, appKey: app.app_key }
      if (!(await deleteAccessToken(tx, token))) return
      await recordAudit(inside, { event: 'access_token_revoked', actor, routingKey, appKey: app.app_key })
    })
    return
  }
  const refresh = parseToken(keys, PREFIX.refreshToken, text, app.app_key)
  const found = refresh && (await findRefresh(db, refresh.routingKey, refresh.hash, []))
  if (!found || found.revoked_at) return
  const { routingKey } = refresh
  await inPersonTransaction(deps, routingKey, async (inside) => {
    const person = await endGrant(inside, routingKey, found.grant_id, 'app')
    if (!person) return
    const detail = { grant_id: found.grant_id, reason: 'revoked by the app' }
    await recordAudit(inside, { ...person, event: 'grant_withdrawn', actor, appKey: app.app_key, detail })
  })
}

/** A valid refresh token of this app: what it allows and until when. Undefined for anything else. */
export async function describeRefreshToken(
  { db, keys, clock }: Deps,
  app: CallingApp,
  text: string,
): Promise<DescribedRefresh | undefined> {
  const token = parseToken(keys, PREFIX.refreshToken, text, app.app_key)
  if (!token || token.expiresAt <= clock.now()) return undefined
  const { routingKey, hash, expiresAt } = token
  const found = await findRefresh(db, routingKey, hash, grantableScopes(app.scopes))
  if (!found || found.rotated_at || found.revoked_at || found.user_status !== 'active') return undefined
  const user = await signInOfGrant(db, { routingKey, grantId: found.grant_id })
  return user && { scopes: found.scopes, cid: user.cid, userId: user.user_id, expiresAt }
}

export interface DescribedRefresh {
  readonly scopes: readonly string[]
  readonly cid: number
  readonly userId: string
  readonly expiresAt: Date
}

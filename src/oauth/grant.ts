import { routingKeyOf, type UserKey } from '../account/index.ts'
import { recordAudit } from '../audit/index.ts'
import type { Deps } from '../deps.ts'
import { operation } from '../lib/json/input.ts'
import { oauthFailure } from './failures.ts'
import { type Grant, grantsOfApp, grantsOfUser, revokeGrantOfUser } from './grant-store.ts'
import { countGrantsOfApp, countGrantsOfUser, type LiveGrants } from './live-grants-store.ts'
import { type GrantFilter, type GrantReference, grantFilter, grantReference } from './wire.ts'

/** A page of the grants of one user or to one micro-app, newest first, revoked ones too. */
export const listGrants = operation(
  grantFilter,
  async ({ db }: Deps, filter: GrantFilter): Promise<{ grants: Grant[]; next: string | null }> => {
    const { app_key, cid = 0, user_id = '', ...page } = filter
    const { rows, next } =
      app_key === undefined
        ? await grantsOfUser(db, { routingKey: routingKeyOf(cid, user_id), cid, userId: user_id }, page)
        : await grantsOfApp(db, app_key, page)
    return { grants: rows, next }
  },
)

/** Of one user or one micro-app: what a change of it touches. A hundred thousand are counted at most. */
export const liveGrantsOf = ({ db }: Deps, whose: { readonly app_key: string } | UserKey): Promise<LiveGrants> => {
  if ('app_key' in whose) return countGrantsOfApp(db, whose.app_key)
  const { cid, user_id: userId } = whose
  return countGrantsOfUser(db, { routingKey: routingKeyOf(cid, userId), cid, userId })
}

/** Revokes a grant: its code, access tokens and refresh tokens stop working at once. Doing it again changes nothing. */
export const revokeGrantByOperator = operation(
  grantReference,
  async (deps: Deps, reference: GrantReference): Promise<void> => {
    const { cid, user_id: userId, grant_id: grantId } = reference
    const routingKey = routingKeyOf(cid, userId)
    await deps.db.tx(async (tx) => {
      const found = await revokeGrantOfUser(tx, routingKey, { cid, userId, grantId }, deps.clock.now())
      if (!found) throw oauthFailure('grant_unknown')
      const detail = { grant_id: grantId }
      await recordAudit({ ...deps, db: tx }, { event: 'grant_withdrawn', routingKey, cid, userId, detail })
    })
  },
)

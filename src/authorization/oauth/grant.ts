import { pageNamed } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { rowKeyOf, type UserKey } from '../account/index.ts'
import { endGrants } from './end-grants.ts'
import {
  type AllowedApp,
  allowedAppsOf,
  countGrantsOfApp,
  countGrantsOfUser,
  grantsOfApp,
  grantsOfUser,
  type LiveGrants,
} from './grant-store.ts'
import { WITHDRAWN_SHOWN_S } from './retention-store.ts'
import { grantFilter, grantReference, withdrawal } from './wire.ts'

/** A page of the grants of one user or to one micro-app, newest first, revoked ones too. */
export const listGrants = operation(grantFilter, ({ db }: Deps, { app_key, cid = 0, user_id = '', ...page }) => {
  if (app_key !== undefined) return pageNamed('grants', grantsOfApp(db, app_key, page))
  return pageNamed('grants', grantsOfUser(db, rowKeyOf({ cid, user_id }), page))
})

/** Live grants of one user or one micro-app: what a change of it touches. A hundred thousand are counted at most. */
export const liveGrantsOf = ({ db }: Deps, whose: { readonly app_key: string } | UserKey): Promise<LiveGrants> => {
  if ('app_key' in whose) return countGrantsOfApp(db, whose.app_key)
  return countGrantsOfUser(db, rowKeyOf(whose))
}

/** Revokes a grant: its code, access tokens and refresh tokens stop working at once. Doing it again changes nothing. */
export const revokeGrantByOperator = operation(
  grantReference,
  (deps: Deps, { grant_id: grantId, ...user }): Promise<void> =>
    endGrants(deps, rowKeyOf(user), { grantId }, 'operator'),
)

/** What the person has allowed, by app; those that lost access in the last year too, without scopes then. */
async function allowed({ db, clock }: Deps, person: UserRowKey): Promise<AllowedApp[]> {
  const shownSince = addSeconds(clock.now(), -WITHDRAWN_SHOWN_S)
  const apps = await allowedAppsOf(db, person)
  return apps.filter(
    ({ since, withdrawn_at }) => since !== null || (withdrawn_at !== null && withdrawn_at > shownSince),
  )
}

/**
 * The person withdraws all that they have allowed an app, in both dialects, and what is remembered of it. Throws 20007 (404)
 * for an app that they have allowed nothing.
 */
const withdraw = operation(
  withdrawal,
  (deps: Deps, { app_key: appKey }, person: UserRowKey): Promise<void> => endGrants(deps, person, { appKey }, 'user'),
)

/** What people do with their own grants. */
export const ownGrants = { allowed, withdraw }

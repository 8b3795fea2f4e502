import { asPerson, recordAudit } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { PREFIX, parseToken } from '../../platform/lib/crypto/opaque-token.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { grantableScopes } from '../../platform/lib/scope.ts'
import { countSessionsOfUser, lockUser, rowKeyOf, type UserKey } from '../account/index.ts'
import { type EndReason, tellOfEndedAccess } from '../app-events/index.ts'
import { type CallingApp, showMicroApp } from '../registry/index.ts'
import { oauthFailure } from './failures.ts'
import {
  type AllowedApp,
  allowedAppsOf,
  countGrantsOfApp,
  countGrantsOfUser,
  countTokensOfUser,
  grantsOfApp,
  grantsOfUser,
  hasLiveGrant,
  type LiveGrants,
  personOfGrant,
  revokeGrants,
  signInOfGrant,
  type WhichGrants,
  withdrawGrants,
} from './grant-store.ts'
import { findRefresh } from './refresh-store.ts'
import { WITHDRAWN_SHOWN_S } from './retention-store.ts'
import { deleteAccessToken, forgetEndedToken } from './token-store.ts'
import { grantFilter, grantReference, withdrawal } from './wire.ts'

/** A page of the grants of one user or one micro-app, newest first, including revoked ones. */
export const listGrants = operation(grantFilter, ({ db }: Deps, { app_key, cid = 0, user_id = '', ...page }) => {
  if (app_key !== undefined) return pageNamed('grants', grantsOfApp(db, app_key, page))
  return pageNamed('grants', grantsOfUser(db, rowKeyOf({ cid, user_id }), page))
})

/** The number of live grants of a user, or of a micro-app among its newest ten thousand: a change affects them. */
export const liveGrantsOf = ({ db }: Deps, whose: { readonly app_key: string } | UserKey): Promise<LiveGrants> => {
  if ('app_key' in whose) return countGrantsOfApp(db, whose.app_key)
  return countGrantsOfUser(db, rowKeyOf(whose))
}

/** Revokes a grant: its code, access tokens and refresh tokens stop working at once. Doing it again changes nothing. */
export const revokeGrantByOperator = operation(grantReference, async (deps: Deps, { grant_id, ...user }) => {
  await endGrants(deps, rowKeyOf(user), { grantId: grant_id }, 'operator')
  return { grant_id, revoked: true }
})

/** What the person has allowed each app. Apps that lost access in the last year are included, without scopes. */
async function allowed({ db, clock }: Deps, person: UserRowKey): Promise<AllowedApp[]> {
  const shownSince = addSeconds(clock.now(), -WITHDRAWN_SHOWN_S)
  const apps = await allowedAppsOf(db, person)
  return apps.filter(
    ({ since, withdrawn_at }) => since !== null || (withdrawn_at !== null && withdrawn_at > shownSince),
  )
}

/** Withdraws everything that the person has allowed an app. Throws 20007 (404) if there is nothing to withdraw. */
const withdraw = operation(
  withdrawal,
  (deps: Deps, { app_key: appKey }, person: UserRowKey): Promise<void> => endGrants(deps, person, { appKey }, 'user'),
)

/** What people do with their own grants. */
export const ownGrants = { allowed, withdraw }

/**
 * Ends one grant of a person, or all to one app, with the remembered consent, and notifies the app. Tokens and codes end
 * with them, as each is looked up together with its grant. Throws 20007 (404) if there is no such grant.
 */
const endGrants = (deps: Deps, person: UserRowKey, which: WhichGrants, reason: EndReason): Promise<void> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    if (!(await lockUser(db, person))) throw oauthFailure('grant_unknown')
    const now = deps.clock.now() // after waiting for the lock
    const grants = await withdrawGrants(db, person, which, now)
    const appKey = grants[0]?.app_key
    if (appKey === undefined) throw oauthFailure('grant_unknown')
    const ended = grants.filter(({ is_new }) => is_new).length
    const detail = 'grantId' in which ? { grant_id: which.grantId } : { grants: ended }
    const by = reason === 'user' ? { actor: asPerson(deps.actor, person) } : {}
    if (ended > 0 || reason === 'operator')
      await recordAudit(inside, { ...person, event: 'grant_withdrawn', ...by, appKey, detail })
    if (ended > 0) await tellApp(inside, { ...person, appKey }, reason)
  })

/** Notifies the grant's app, unless that ended it. Undefined if it had ended before. `deps.db` is a transaction. */
export async function endGrant(
  deps: Deps,
  routingKey: number,
  grantId: string,
  reason: EndReason | 'app',
): Promise<UserRowKey | undefined> {
  const person = await personOfGrant(deps.db, routingKey, grantId)
  // Without the lock, a grant could be ended twice, and two grants ending at once would each see the other one live, so no
  // message would say `all_ended`.
  if (!person || !(await lockUser(deps.db, person))) return undefined
  const [grant] = await revokeGrants(deps.db, person, { grantId }, deps.clock.now())
  if (!grant?.is_new) return undefined
  if (reason !== 'app') await tellApp(deps, { ...person, appKey: grant.app_key }, reason)
  return person
}

async function tellApp(deps: Deps, of: UserRowKey & { readonly appKey: string }, reason: EndReason): Promise<void> {
  const allEnded = !(await hasLiveGrant(deps.db, of, of.appKey))
  await tellOfEndedAccess(deps, { ...of, reason, allEnded })
}

/** Counts the user's tokens, the apps that hold them, and browser sessions. Throws 20007 (404) for an unknown user. */
async function ofUser(deps: Deps, { cid, user_id }: UserKey) {
  const sessions = await countSessionsOfUser(deps, { cid, user_id })
  const tokens = await countTokensOfUser(deps.db, rowKeyOf({ cid, user_id }), deps.clock.now())
  return { cid, user_id, ...tokens, sessions }
}

/** Counts the app's grants, and the people behind them. Throws 20007 (404) if there is no such app. */
async function ofApp(deps: Deps, appKey: string) {
  const { app_key } = await showMicroApp(deps, appKey)
  return { app_key, ...(await liveGrantsOf(deps, { app_key })) }
}

/** What revoking everything of a user or an app would end. */
export const previewRevocation = { ofUser, ofApp }

// ---- one token, by its app

/** Revokes an access token alone, or a refresh token with its grant. Silently leaves another app's token alone. */
export async function revokeToken(deps: Deps, app: CallingApp, text: string): Promise<void> {
  const { db, keys } = deps
  const access = parseToken(keys, PREFIX.accessToken, text)
  const actor = { ...deps.actor, kind: 'app', name: app.app_key } as const
  if (access) {
    const { routingKey } = access
    await inPersonTransaction(deps, routingKey, async (inside, tx) => {
      const token = { ...access, appKey: app.app_key }
      if (!(await deleteAccessToken(tx, token)) && (await forgetEndedToken(tx, token)) === 0) return
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

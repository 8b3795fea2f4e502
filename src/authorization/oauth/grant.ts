import { asPerson, recordAudit } from '../../platform/audit/index.ts'
import { pageNamed } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { withShareOf } from '../../platform/db/sql.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { countSessionsOfUser, lockUser, rowKeyOf, type UserKey } from '../account/index.ts'
import { type EndReason, tellOfEndedAccess } from '../app-events/index.ts'
import { showMicroApp } from '../registry/index.ts'
import { revokeGrant } from './consent-store.ts'
import { oauthFailure } from './failures.ts'
import {
  type AllowedApp,
  allowedAppsOf,
  countGrantsOfApp,
  countGrantsOfUser,
  countTokensOfApp,
  countTokensOfUser,
  endGrantsOf,
  grantsOfApp,
  grantsOfUser,
  hasLiveGrant,
  type LiveGrants,
  personOfGrant,
  type WhichGrants,
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
 * The person withdraws all that they have allowed an app, in both dialects, and what is remembered of it. Throws 20007
 * (404) if that is nothing.
 */
const withdraw = operation(
  withdrawal,
  (deps: Deps, { app_key: appKey }, person: UserRowKey): Promise<void> => endGrants(deps, person, { appKey }, 'user'),
)

/** What people do with their own grants. */
export const ownGrants = { allowed, withdraw }

/**
 * Ends grants of one person, all to one app or a single one, and tells the app: their codes, access tokens and refresh
 * tokens stop working at once, in both dialects, since each of them is looked up together with its grant. What the app
 * might have without being asked is forgotten. A consent that is being given waits for it, or it waits for the consent.
 * Doing it again changes nothing. Throws 20007 (404) where there is no such grant.
 */
const endGrants = (deps: Deps, person: UserRowKey, which: WhichGrants, reason: EndReason): Promise<void> =>
  inPersonTransaction(deps, person.routingKey, async (inside, db) => {
    if (!(await lockUser(db, person))) throw oauthFailure('grant_unknown')
    const now = deps.clock.now() // after whatever the lock has waited for
    const asked = await endGrantsOf(db, person, which, now)
    const appKey = asked[0]?.app_key
    if (appKey === undefined) throw oauthFailure('grant_unknown')
    const ended = asked.filter(({ is_new }) => is_new).length
    const detail = 'grantId' in which ? { grant_id: which.grantId } : { grants: ended }
    const by = reason === 'user' ? { actor: asPerson(deps.actor, person) } : {}
    if (ended > 0 || reason === 'operator')
      await recordAudit(inside, { ...person, event: 'grant_withdrawn', ...by, appKey, detail })
    if (ended > 0) await tellApp(inside, { ...person, appKey }, reason)
  })

/**
 * Ends a grant that is known by its id alone, and tells its app. False when it had ended before. `deps.db` is a
 * transaction.
 */
export async function endGrant(deps: Deps, routingKey: number, grantId: string, reason: EndReason): Promise<boolean> {
  const person = await personOfGrant(deps.db, routingKey, grantId)
  // Two that end at once would each find the other one live, and no message say that all have ended.
  if (!person || !(await lockUser(deps.db, person))) return false
  const ended = await revokeGrant(deps.db, routingKey, grantId, deps.clock.now())
  if (!ended) return false
  await tellApp(deps, { ...person, appKey: ended.app_key }, reason)
  return true
}

async function tellApp(deps: Deps, of: UserRowKey & { readonly appKey: string }, reason: EndReason): Promise<void> {
  const allEnded = !(await hasLiveGrant(deps.db, of, of.appKey))
  await tellOfEndedAccess(deps, { ...of, reason, allEnded })
}

/** An app may have millions of grants; the operator waits so long at most. */
const COUNTED_WITHIN_S = 60

/**
 * Access and refresh tokens, the apps that hold them, browser sessions. Throws 20007 (404) when there is no such user.
 */
async function ofUser(deps: Deps, { cid, user_id }: UserKey) {
  const sessions = await countSessionsOfUser(deps, { cid, user_id })
  const tokens = await countTokensOfUser(deps.db, rowKeyOf({ cid, user_id }), deps.clock.now())
  return { cid, user_id, ...tokens, sessions }
}

/**
 * Tokens, and how many people allowed them. Throws 20007 (404) when there is no such app, and 20003 (429) while this
 * process does another long read.
 */
async function ofApp(deps: Deps, appKey: string) {
  return deps.longReads.run(async () => {
    const { app_key } = await showMicroApp(deps, appKey)
    const now = deps.clock.now()
    // Over the connections of the room whose tables are counted: operators have few.
    const { db } = withShareOf(deps, 'oauth')
    return { app_key, ...(await db.slowTx(COUNTED_WITHIN_S, (inside) => countTokensOfApp(inside, app_key, now))) }
  })
}

/** What a revocation of everything of a user or an app would end. */
export const previewRevocation = { ofUser, ofApp }

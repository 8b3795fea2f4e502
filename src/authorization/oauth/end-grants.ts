import { asPerson, recordAudit } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { withShareOf } from '../../platform/db/sql.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { countSessionsOfUser, lockUser, rowKeyOf, type UserKey } from '../account/index.ts'
import { type EndReason, tellOfEndedAccess } from '../app-events/index.ts'
import { showMicroApp } from '../registry/index.ts'
import { revokeGrant } from './consent-store.ts'
import { oauthFailure } from './failures.ts'
import {
  countTokensOfApp,
  countTokensOfUser,
  endGrantsOf,
  hasLiveGrant,
  personOfGrant,
  type WhichGrants,
} from './grant-store.ts'

/**
 * Ends grants of one person, all to one app or a single one, and tells the app: their codes, access tokens and refresh tokens
 * stop working at once, in both dialects, since each of them is looked up together with its grant. What the app might have
 * without being asked is forgotten. A consent that is being given waits for it, or it waits for the consent. Doing it again
 * changes nothing. Throws 20007 (404) where there is no such grant.
 */
export const endGrants = (deps: Deps, person: UserRowKey, which: WhichGrants, reason: EndReason): Promise<void> =>
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

/** Ends a grant that is known by its id alone, and tells its app. False when it had ended before. `deps.db` is a transaction. */
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

/** Access and refresh tokens, the apps that hold them, browser sessions. Throws 20007 (404) when there is no such user. */
async function ofUser(deps: Deps, { cid, user_id }: UserKey) {
  const sessions = await countSessionsOfUser(deps, { cid, user_id })
  const tokens = await countTokensOfUser(deps.db, rowKeyOf({ cid, user_id }), deps.clock.now())
  return { cid, user_id, ...tokens, sessions }
}

/**
 * Tokens, and how many people have allowed them. Throws 20007 (404) when there is no such app, and 20003 (429) while this
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

import { asPerson, recordAudit } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Deps } from '../../platform/deps.ts'
import { lockUser } from '../account/index.ts'
import { type EndReason, tellOfEndedAccess } from '../app-events/index.ts'
import { revokeGrant } from './consent-store.ts'
import { oauthFailure } from './failures.ts'
import { endGrantsOf, hasLiveGrant, personOfGrant, type WhichGrants } from './grant-store.ts'

/**
 * Ends grants of one person, all to one app or a single one, and tells the app: their codes, access tokens and refresh tokens
 * stop working at once, in both dialects, since each of them is looked up together with its grant. What the app might have
 * without being asked is forgotten. A consent that is being given waits for it, or it waits for the consent. Doing it again
 * changes nothing. Throws 20007 (404) where there is no such grant.
 */
export const endGrants = (deps: Deps, person: UserRowKey, which: WhichGrants, reason: EndReason): Promise<void> =>
  deps.db.of(person.routingKey).tx(async (db) => {
    if (!(await lockUser(db, person))) throw oauthFailure('grant_unknown')
    const now = deps.clock.now() // after whatever the lock has waited for
    const asked = await endGrantsOf(db, person, which, now)
    const appKey = asked[0]?.app_key
    if (appKey === undefined) throw oauthFailure('grant_unknown')
    const ended = asked.filter(({ is_new }) => is_new).length
    const { routingKey, cid, userId } = person
    const detail = 'grantId' in which ? { grant_id: which.grantId } : { grants: ended }
    const by = reason === 'user' ? { actor: asPerson(deps.actor, { cid, userId }) } : {}
    const inside = { ...deps, db }
    if (ended > 0 || reason === 'operator')
      await recordAudit(inside, { event: 'grant_withdrawn', ...by, routingKey, cid, userId, appKey, detail })
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
  const { routingKey, cid, userId, appKey } = of
  const allEnded = !(await hasLiveGrant(deps.db, of, appKey))
  await tellOfEndedAccess(deps, { routingKey, cid, userId, appKey, reason, allEnded })
}

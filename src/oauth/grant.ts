import { routingKeyOf } from '../account/index.ts'
import { recordAudit } from '../audit/index.ts'
import type { Deps } from '../deps.ts'
import { refuse } from './failures.ts'
import { type Grant, grantsOfUser, revokeGrantOfUser } from './grant-store.ts'
import type { GrantReference, UserReference } from './wire.ts'

/** The grants of one user, newest first, withdrawn ones too. */
export const listGrants = ({ db }: Deps, { cid, user_id }: UserReference): Promise<Grant[]> =>
  grantsOfUser(db, routingKeyOf(cid, user_id), cid, user_id)

/** Withdraws a grant: its code, access tokens and refresh tokens stop working at once. Doing it again changes nothing. */
export async function withdrawGrant({ db, clock, actor = 'system' }: Deps, reference: GrantReference): Promise<void> {
  const { cid, user_id: userId, grant_id: grantId } = reference
  const routingKey = routingKeyOf(cid, userId)
  const now = clock.now()
  await db.tx(async (tx) => {
    const found = await revokeGrantOfUser(tx, routingKey, { cid, userId, grantId }, now)
    if (!found) throw refuse('grant_unknown')
    const detail = { grant_id: grantId }
    await recordAudit(tx, { at: now, event: 'grant_withdrawn', actor, routingKey, cid, userId, detail })
  })
}

import { randomUUID } from 'node:crypto'
import { recordAudit } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { ACCOUNT_MESSAGES, lockExistingUser, rowKeyOf, showUser, type UserKey } from '../account/index.ts'
import { appsToTell, tellOfEndedAccess } from '../app-events/index.ts'
import { ownGrants } from '../oauth/index.ts'
import { handOverTeams } from '../teams/index.ts'
import { countRows, deleteRows, ROWS_OF_PERSON } from './store.ts'

const STATEMENT_S = 60

/** The number of rows that an erasure would delete, by kind; counts up to `most` of each. Throws 20007 (404). */
export async function countErasable(deps: Deps, user: UserKey, most: number | null = null) {
  await showUser(deps, user)
  const rows: Record<string, number> = {}
  for (const kind of ROWS_OF_PERSON) rows[kind.what] = await countRows(deps.db, kind, rowKeyOf(user), most)
  return { ...user, rows }
}

/** What an erasure leaves, and why. */
const staysFor = ({ AUDIT_DAYS }: Deps['config']) =>
  Object.entries({
    'audit log': `it shows what was done, and a row that is missing would break its chain; it names cid and user_id and addresses, and is kept ${AUDIT_DAYS === 0 ? 'for good' : `for ${AUDIT_DAYS} days`}`,
    orders:
      'needed for accounting; they belong to no user, and hold visitors and contacts as they were given, until ORDER_PERSONAL_DATA_DAYS',
    'members of partners': 'they sign in to the sandbox with an account of their own: partner members remove',
    'messages to apps': 'they tell the apps of this person, by cid and user_id, of the erasure; for 30 days',
    'mail that tells of the erasure': 'it goes to the person; until it is sent, the queue holds the address encrypted',
    'counts of failed sign-ins': 'keyed hashes of what was typed, for 15 minutes',
    backups: 'until they are replaced; erase again after one was restored',
  }).map(([what, why]) => ({ what, why }))

/**
 * Deletes everything about a person in one transaction: codes and tokens are refused as if never issued. Tells apps with
 * access, and those not yet told that their access has ended. Throws 20007 (404).
 */
export const eraseUser = (deps: Deps, user: UserKey) =>
  deps.db.of(rowKeyOf(user).routingKey).slowTx(STATEMENT_S, async (db) => {
    const person = rowKeyOf(user)
    await lockExistingUser(db, person)
    const inside = { ...deps, db }
    const allowed = (await ownGrants.allowed(inside, person)).filter(({ since }) => since !== null)
    // Pending events are deleted with everything else; the erasure event replaces them.
    const apps = new Set([...allowed.map(({ app_key }) => app_key), ...(await appsToTell(db, person))])
    await ACCOUNT_MESSAGES.tell(inside, person, 'deleted')
    await handOverTeams(inside, person)
    const rows: Record<string, number> = {}
    for (const kind of ROWS_OF_PERSON) rows[kind.what] = await deleteRows(db, kind, person)
    for (const appKey of apps) {
      await tellOfEndedAccess(inside, { ...person, appKey, reason: 'erased', allEnded: true })
    }
    const receipt_id = randomUUID()
    const target = `erasure:${receipt_id}`
    await recordAudit(inside, { event: 'user_erased', target, detail: { rows } })
    return { ...user, receipt_id, erased_at: deps.clock.now(), rows, stays: staysFor(deps.config) }
  })

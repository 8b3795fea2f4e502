import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { auditPages, recordAudit } from '../../platform/audit/index.ts'
import type { PersonalRows, UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { readingReason } from '../../platform/lib/json/input.ts'
import { ACCOUNT_MESSAGES, lockExistingUser, rowKeyOf, showUser, type UserKey, userKey } from '../account/index.ts'
import { appsToTell, tellOfEndedAccess } from '../app-events/index.ts'
import { ownGrants } from '../oauth/index.ts'
import { handOverTeams } from '../teams/index.ts'
import { countRows, deleteRows, ROWS_OF_PERSON, readRows } from './store.ts'

export const exportedUser = userKey.extend({ reason: readingReason })

const PAGE_SIZE = 500

/** One JSON object, at most a page of it in memory. First the audit log gets who asked, and why. Throws 20007 (404). */
export async function exportUser(deps: Deps, { reason, ...user }: z.output<typeof exportedUser>) {
  const person = rowKeyOf(user)
  await inPersonTransaction(deps, person.routingKey, async (inside) => {
    await showUser(inside, user)
    await recordAudit(inside, { event: 'user_exported', ...person, detail: { reason } })
  })
  return textOf(deps, user, person)
}

async function* textOf(deps: Deps, user: UserKey, person: UserRowKey): AsyncGenerator<string> {
  yield `{"exported_at":${JSON.stringify(deps.clock.now())},"cid":${user.cid},"user_id":${JSON.stringify(user.user_id)}`
  for (const rows of ROWS_OF_PERSON) yield* jsonArray(rows.what, rowsOf(deps, rows, person))
  yield* jsonArray('events', eventsOf(deps, user))
  yield '}\n'
}

async function* jsonArray(name: string, pages: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  yield `,${JSON.stringify(name)}:[`
  let isFirst = true
  for await (const page of pages) {
    if (page.length > 0) yield `${isFirst ? '' : ','}${page.join(',')}`
    isFirst = isFirst && page.length === 0
  }
  yield ']'
}

async function* rowsOf({ db }: Deps, rows: PersonalRows, person: UserRowKey): AsyncGenerator<string[]> {
  for (let after: string | null = null; ; ) {
    const page: Awaited<ReturnType<typeof readRows>> = await readRows(db, rows, person, { limit: PAGE_SIZE, after })
    yield page.rows.map(({ row }) => row)
    if (page.next === null) return
    after = page.next
  }
}

/** Events about the person. Other actors appear only by kind. */
async function* eventsOf(deps: Deps, { cid, user_id }: UserKey): AsyncGenerator<string[]> {
  for await (const events of auditPages(deps, { target: `user:${cid}/${user_id}` }))
    yield events.map(({ at, actor, action, outcome, app_key, address }) =>
      JSON.stringify({ at, by: actor.kind, action, outcome, app_key, address: actor.kind === 'user' ? address : null }),
    )
}

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

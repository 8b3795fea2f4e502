import type { z } from 'zod'
import { auditPages, recordAudit } from '../../platform/audit/index.ts'
import type { PersonalRows, UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { readingReason } from '../../platform/lib/json/input.ts'
import { rowKeyOf, showUser, type UserKey, userKey } from '../account/index.ts'
import { ROWS_OF_PERSON, readRows } from './store.ts'

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

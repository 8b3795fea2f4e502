import { z } from 'zod'
import { cursorOf, withCursor } from '../../../platform/db/page.ts'
import { type Db, type Fragment, sql } from '../../../platform/db/sql.ts'
import { matches, SUMMARY, summary, type TrafficSearch, type TrafficView, WINDOW } from './store.ts'

/** Calls in both directions of all partners, for operators. */

const VIEWS = ['sandbox_outgoing', 'sandbox_accepted', 'sandbox_refused'] as const satisfies readonly TrafficView[]

/** Time and id of a row; the time is text, to keep microseconds. */
export type CursorOfAll = readonly [at: string, id: string]

export interface AllTrafficFilter {
  /** Undefined: all partners. */
  readonly partnerId: bigint | undefined
  readonly searches: readonly TrafficSearch[]
  /** Undefined: both. */
  readonly outcome: 'ok' | 'failed' | undefined
  readonly from: Date | undefined
  readonly to: Date | undefined
}

/** Rows after a cursor, newest first. Rows without a partner came with an unknown clientId. */
function within({ partnerId, from, to }: AllTrafficFilter, after: CursorOfAll | undefined): Fragment {
  return sql.part`${partnerId === undefined ? sql.part`partner_id is not null` : sql.part`partner_id = ${partnerId}`}
    and ${from ? sql.part`at >= ${from}` : sql.part`true`} and ${to ? sql.part`at < ${to}` : sql.part`true`}
    and ${after ? sql.part`at <= ${after[0]}::timestamptz and (at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)` : sql.part`true`}`
}

const CURSOR = cursorOf(sql.part`at, id`)
const ofPartner = withCursor(summary.extend({ partner_id: z.coerce.bigint() }))
export type SummaryOfAll = z.output<typeof ofPartner>

/** Newest first; reads at most `limit` rows of each view, and none beyond the end of the window. */
export function listOfAll(
  db: Db,
  filter: AllTrafficFilter,
  after: CursorOfAll | undefined,
  until: CursorOfAll | undefined,
  limit: number,
): Promise<SummaryOfAll[]> {
  const { searches, outcome } = filter
  const end = until ? sql.part`(at, id) >= (${until[0]}::timestamptz, ${until[1]}::uuid)` : sql.part`true`
  const [first, ...others] = VIEWS.map((view) => {
    const conditions = searches.map((search) => matches(search, view))
    if (outcome) conditions.push(outcome === 'failed' ? sql.part`failed` : sql.part`not failed`)
    const where = conditions.reduce(
      (all, one) => sql.part`${all} and ${one}`,
      sql.part`${within(filter, after)} and ${end}`,
    )
    return sql.part`(select ${SUMMARY}, partner_id, ${CURSOR} from ${sql.identifier(view)} where ${where}
      order by at desc, id desc limit ${limit})`
  })
  return db.listWithCustomPlan(
    ofPartner,
    sql`${first ?? sql.part``} union all ${others[0] ?? sql.part``} union all ${others[1] ?? sql.part``}
        order by at desc, id desc limit ${limit}`,
  )
}

const placed = z.object({ cursor: z.string() })

/** The cursor of the last of the next thousand calls, searched for or not; undefined if there are fewer. */
export async function windowOfAll(
  db: Db,
  filter: AllTrafficFilter,
  after: CursorOfAll | undefined,
): Promise<string | undefined> {
  const from = (view: TrafficView) =>
    sql.part`(select at, id from ${sql.identifier(view)} where ${within(filter, after)}
      order by at desc, id desc limit ${WINDOW})`
  const [last] = await db.listWithCustomPlan(
    placed,
    sql`select ${CURSOR} from (
          ${from('sandbox_outgoing')} union all ${from('sandbox_accepted')} union all ${from('sandbox_refused')}
          order by at desc, id desc offset ${WINDOW - 1} limit 1) last_one`,
  )
  return last?.cursor
}

import { z } from 'zod'
import { beginsWith, listPage } from '../db/page.ts'
import { columnsOf } from '../db/record-fields.ts'
import type { Retention } from '../db/retention.ts'
import { type Db, sql } from '../db/sql.ts'
import { ACTOR_KINDS } from '../deps.ts'
import { addSeconds, DAY_S } from '../lib/clock.ts'
import { type AuditPage, type EventRow, eventRow } from './wire.ts'

/** The log and its chain are kept for AUDIT_DAYS; 0 means forever. */
const AUDIT_KEPT: Retention['keptS'] = ({ AUDIT_DAYS }) =>
  AUDIT_DAYS === 0 ? Number.POSITIVE_INFINITY : AUDIT_DAYS * DAY_S

/** The service's database role may not be allowed to delete these rows (OPERATIONS "Audit log"). */
export const AUDIT_RETENTION: readonly Retention[] = [
  { table: 'audit_event', key: ['routing_key', 'audit_id'], column: 'at', keptS: AUDIT_KEPT, mayBeForbidden: true },
  { table: 'audit_seal', key: ['seal_no'], column: 'last_at', keptS: AUDIT_KEPT, mayBeForbidden: true },
]

export const insertEvent = (db: Db, row: Omit<EventRow, 'audit_id'>): Promise<number> =>
  db.exec(
    sql`with written as (
          insert into audit_event (routing_key, at, event, actor, actor_name, target, app_key, partner_id, cid, user_id,
                                   address, request_id, outcome, detail)
          values (${row.routing_key}, ${row.at}, ${row.event}, ${row.actor}, ${row.actor_name}, ${row.target},
                  ${row.app_key}, ${row.partner_id}, ${row.cid}, ${row.user_id}, ${row.address}, ${row.request_id},
                  ${row.outcome}, ${row.detail})
          returning routing_key, audit_id
        )
        insert into audit_unsealed (routing_key, audit_id) select routing_key, audit_id from written`,
  )

const NAMES = Object.keys(eventRow.shape)

/**
 * Newest first. The first of these conditions finds rows by its index; the others look through them, since no index
 * serves several.
 */
export function findEvents(db: Db, { actor, action, target, request_id, from, to, ...page }: AuditPage) {
  // Each column has an index; an OR of both would scan the log until enough rows match.
  const isKind = ACTOR_KINDS.some((kind) => kind === actor)
  const conditions = [
    ...(request_id ? [sql.part`request_id = ${request_id}`] : []),
    ...(target ? [sql.part`target = ${target}`] : []),
    ...(action ? [sql.part`event like ${beginsWith(action)}`] : []),
    ...(actor ? [isKind ? sql.part`actor = ${actor}` : sql.part`actor_name = ${actor}`] : []),
  ]
  const [first = sql.part`true`, ...others] = conditions
  const since = from ? sql.part` and at >= ${from}` : sql.part``
  const until = to ? sql.part` and at < ${to}` : sql.part``
  const listing = {
    row: eventRow,
    columns: columnsOf(NAMES),
    from: sql.part`audit_event where ${first}${since}${until}`,
    wanted: others.length === 0 ? undefined : others.reduce((all, one) => sql.part`${all} and ${one}`),
    keys: { at: 'timestamptz', audit_id: 'uuid' },
    newestFirst: true,
  } as const
  return listPage(db, listing, page)
}

/** The rows with these ids, in the given order; missing ones are left out. */
export const findEventsById = (db: Db, routingKeys: readonly number[], ids: readonly string[]): Promise<EventRow[]> =>
  db.listWithIndexPlan(
    eventRow,
    sql`select ${columnsOf(NAMES, 'e')}
        from unnest(${routingKeys}::int[], ${ids}::uuid[]) with ordinality as asked (routing_key, audit_id, ordinal)
        join audit_event e on ${sql.sameKey('e', 'asked', ['routing_key', 'audit_id'])} order by ordinal`,
  )

const counted = z.object({ events: z.number(), sealed: z.number(), waiting: z.number() })

/** Counts rows since a moment (all by default), rows named by the seals after this one, and unsealed rows. */
export const countEvents = (db: Db, since: Date | undefined, afterSeal: bigint): Promise<z.output<typeof counted>> =>
  db.one(
    counted,
    sql`select (select count(*)::int from audit_event where at >= coalesce(${since ?? null}::timestamptz, '-infinity')) as events,
               (select coalesce(sum(cardinality(audit_ids)), 0)::int from audit_seal where seal_no > ${afterSeal}) as sealed,
               (select count(*)::int from audit_unsealed) as waiting`,
  )

/** Older rows may have been purged. */
export const keptSince = (now: Date, auditDays: number): Date | undefined =>
  auditDays === 0 ? undefined : addSeconds(now, -auditDays * DAY_S)

const BETWEEN = { at: true, event: true, actor: true, app_key: true, cid: true, user_id: true, detail: true } as const
const eventBetween = eventRow.pick(BETWEEN)

interface About {
  readonly from: Date
  readonly until: Date
  readonly appKey: string | null
  readonly cid: number | null
  readonly userId: string | null
}

/** Events about an app or a user in a short period, oldest first. */
export const auditBetween = (db: Db, { from, until, appKey, cid, userId }: About, limit: number) =>
  db.listWithCustomPlan(
    eventBetween,
    sql`select ${columnsOf(Object.keys(BETWEEN))} from audit_event
        where at >= ${from} and at < ${until} and (app_key = ${appKey} or (cid = ${cid} and user_id = ${userId}))
        order by at limit ${limit}`,
  )

import { type AskedPage, listPage } from '../../platform/db/page.ts'
import { ofPerson, type PersonalRows, type UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { storableJson } from '../../platform/lib/storable.ts'
import { joinedMicroApp } from '../registry/index.ts'
import { type AppEvent, type AppNews, appEvent, type EndedAccess } from './wire.ts'

const KEPT_DAYS = 30

export const APP_EVENT_RETENTION: readonly Retention[] = [
  { table: 'app_event', key: ['routing_key', 'event_id'], column: 'created_at', keptS: () => KEPT_DAYS * DAY_S },
]

export const APP_EVENTS_OF_PERSON: readonly PersonalRows[] = [
  {
    what: 'app_events',
    table: 'app_event',
    key: { event_id: 'uuid' },
    shown: ['app_key', 'type', 'reason', 'all_ended', 'state', 'created_at', 'sent_at'],
  },
]

const askedApp = (appKey: string): Fragment =>
  sql.part`(select ${appKey}::text as app_key) asked join ${joinedMicroApp(sql.part`asked.app_key`)}`

/** False if the app has no webhook. */
export const insertEnded = async (db: Db, eventId: string, ended: EndedAccess, now: Date): Promise<boolean> =>
  (await db.exec(
    sql`insert into app_event (routing_key, event_id, app_key, type, cid, user_id, reason, all_ended, state, created_at)
        select ${ended.routingKey}::int, ${eventId}::uuid, a.app_key, 'grant.revoked', ${ended.cid}::int,
          ${ended.userId}::text, ${ended.reason}::text, ${ended.allEnded}::boolean, 'waiting', ${now}::timestamptz
        from ${askedApp(ended.appKey)} where a.webhook_url is not null`,
  )) === 1

/** Like the above. The event is about no user, so its routing key is 0. */
export const insertNews = async (db: Db, eventId: string, { appKey, type, detail }: AppNews, now: Date) =>
  (await db.exec(
    sql`insert into app_event (routing_key, event_id, app_key, type, detail, state, created_at)
        select 0, ${eventId}::uuid, a.app_key, ${type}::text, ${storableJson(detail)}::jsonb, 'waiting',
          ${now}::timestamptz
        from ${askedApp(appKey)} where a.webhook_url is not null`,
  )) === 1

const columns = sql.part`routing_key, event_id, app_key, type, cid, user_id, reason, all_ended, detail, state, attempts,
  last_status, last_error, created_at, sent_at`

/** Least-tried events first, so that one which is always refused does not hold up the others. */
export const waitingEvents = (db: Db, appKey: string, limit: number): Promise<AppEvent[]> =>
  db.listWithCustomPlan(
    appEvent,
    sql`select ${columns} from app_event where app_key = ${appKey} and state = 'waiting'
        order by attempts, created_at limit ${limit}`,
  )

/** The apps with waiting events about the person. */
export const appsToTell = async (db: Db, person: UserRowKey): Promise<string[]> =>
  (
    await db.listWithCustomPlan(
      appEvent.pick({ app_key: true }),
      sql`select distinct app_key from app_event where ${ofPerson(person)} and state = 'waiting'`,
    )
  ).map(({ app_key }) => app_key)

type EventKey = Pick<AppEvent, 'routing_key' | 'event_id'>

export const markSent = (db: Db, { routing_key, event_id }: EventKey, status: number | null, now: Date) =>
  db.exec(
    sql`update app_event
        set state = 'sent', sent_at = ${now}, attempts = attempts + 1, last_status = ${status}, last_error = null
        where routing_key = ${routing_key} and event_id = ${event_id}`,
  )

export const markFailure = (
  db: Db,
  { routing_key, event_id }: EventKey,
  {
    error,
    status,
    state,
  }: { readonly error: string; readonly status: number | null; readonly state: AppEvent['state'] },
): Promise<number> =>
  db.exec(
    sql`update app_event set attempts = attempts + 1, last_error = ${error}, last_status = ${status}, state = ${state}
        where routing_key = ${routing_key} and event_id = ${event_id} and state <> 'sent'`,
  )

/** Makes an event wait again, even if it was delivered; false if the app has no such event. */
export const sendAgain = async (db: Db, appKey: string, eventId: string): Promise<boolean> =>
  (await db.exec(
    sql`update app_event set state = 'waiting', sent_at = null where app_key = ${appKey} and event_id = ${eventId}`,
  )) === 1

export const eventsOfApp = (db: Db, appKey: string, page: AskedPage) => {
  const listing = {
    row: appEvent,
    columns,
    from: sql.part`app_event where app_key = ${appKey}`,
    keys: { created_at: 'timestamptz', event_id: 'uuid' },
    newestFirst: true,
  } as const
  return listPage(db, listing, page)
}

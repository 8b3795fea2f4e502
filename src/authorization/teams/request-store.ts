import { z } from 'zod'
import { cursorOf, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import { storableJson } from '../../platform/lib/storable.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { joinedMicroApp } from '../registry/index.ts'
import { APP_KINDS, type AppFields, keptTeamFields, REQUEST_STATES, type RequestFilter } from './wire.ts'

export const REQUEST_RETENTION: readonly Retention[] = [
  { table: 'app_request', key: ['request_id'], column: 'decided_at', keptS: () => 455 * DAY_S },
]

const request = z.object({
  request_id: z.string(),
  app_key: z.string(),
  kind: z.enum(['live', 'change']),
  // Fields added since the request was made are absent.
  asked: keptTeamFields
    .strict()
    .partial()
    .required({ name: true, redirect_uris: true })
    .extend({ kind: z.enum(APP_KINDS), reasons: z.partialRecord(z.enum(SCOPES), z.string()) }),
  state: z.enum(REQUEST_STATES),
  asked_at: z.date(),
  /** updated_at of the app when the request was made; null in old requests. */
  based_on: z.date().nullable(),
  decided_at: z.date().nullable(),
  remark: z.string().nullable(),
})
export type AppRequest = z.output<typeof request>

const COLUMNS = sql.part`request_id, app_key, kind, asked, state, asked_at, based_on, decided_at, remark`

export interface NewRequest {
  readonly requestId: string
  readonly appKey: string
  readonly kind: AppRequest['kind']
  readonly basedOn: Date
}

/** 0 if there is an open one. */
export const insertRequest = (db: Db, { requestId, appKey, kind, basedOn }: NewRequest, asked: AppFields, now: Date) =>
  db.exec(
    sql`insert into app_request (request_id, app_key, kind, asked, state, asked_at, based_on)
        values (${requestId}, ${appKey}, ${kind}, ${storableJson(asked)}::jsonb, 'open', ${now}, ${basedOn})
        on conflict (app_key) where state = 'open' do nothing`,
  )

export const latestRequest = (db: Db, appKey: string): Promise<AppRequest | undefined> =>
  db.maybe(
    request,
    sql`select ${COLUMNS} from app_request where app_key = ${appKey} order by asked_at desc, request_id limit 1`,
  )

/** Undefined also for text that is not an id. */
export const findRequest = async (db: Db, requestId: string): Promise<AppRequest | undefined> =>
  isUuid(requestId)
    ? db.maybe(request, sql`select ${COLUMNS} from app_request where request_id = ${requestId}`)
    : undefined

/** True for exactly one of concurrent callers. */
export const closeRequest = async (
  db: Db,
  requestId: string,
  state: AppRequest['state'],
  remark: string | null,
  now: Date,
): Promise<boolean> =>
  (await db.exec(
    sql`update app_request set state = ${state}, remark = ${remark}, decided_at = ${now}
        where request_id = ${requestId} and state = 'open'`,
  )) === 1

/** After a change by the team that needs no approval: an open request is then based on the changed app. */
export const rebaseRequest = (db: Db, appKey: string, from: Date, to: Date): Promise<number> =>
  db.exec(
    sql`update app_request set based_on = ${to}
        where app_key = ${appKey} and state = 'open' and coalesce(based_on, asked_at) >= ${from}`,
  )

/** When the app moves to another team. */
export const withdrawOpen = (db: Db, appKey: string, now: Date): Promise<number> =>
  db.exec(
    sql`update app_request set state = 'withdrawn', decided_at = ${now} where app_key = ${appKey} and state = 'open'`,
  )

const listed = z.object({
  request_id: z.string(),
  app_key: z.string(),
  name: z.string(),
  team: z.string().nullable(),
  kind: z.string(),
  state: z.string(),
  asked_at: z.date(),
})
export type ListedRequest = z.output<typeof listed>

/** Oldest first. */
export async function listRequests(db: Db, { limit, after, state }: RequestFilter): Promise<Page<ListedRequest>> {
  const [askedAt, requestId] = after ?? []
  const rows = await db.listWithCustomPlan(
    withCursor(listed),
    sql`select r.request_id, r.app_key, a.name, t.name as team, r.kind, r.state, r.asked_at,
          ${cursorOf(sql.part`r.asked_at, r.request_id`)}
        from app_request r
        join ${joinedMicroApp(sql.part`r.app_key`)}
        left join team_app ta on ta.app_key = r.app_key left join team t on t.team_id = ta.team_id
        where r.state = ${state}
          and (${askedAt}::timestamptz is null
            or (r.asked_at, r.request_id) > (${askedAt}::timestamptz, ${requestId}::uuid))
        order by r.asked_at, r.request_id limit ${limit + 1}`,
  )
  return pageOf(rows, limit)
}

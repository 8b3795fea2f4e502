import { z } from 'zod'
import { listPage } from '../../platform/db/page.ts'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { memberRole } from '../../platform/lib/member.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import { storableJson } from '../../platform/lib/storable.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { joinedMicroApp } from '../registry/index.ts'
import { APP_KINDS, type AppFields, keptTeamFields, REQUEST_STATES, type RequestFilter } from './wire.ts'

/** Apps of teams, and what teams request for them. */

const reasons = z.partialRecord(z.enum(SCOPES), z.string())

const appOfTeam = z.object({
  team_id: z.string(),
  app_key: z.string(),
  name: z.string(),
  logo_url: z.string().nullable(),
  status: z.string(),
  stage: z.string(),
})

/** The apps of these teams, in the order in which they were given. */
export const appsOfTeams = (db: Db, teamIds: readonly string[]) =>
  db.many(
    appOfTeam,
    sql`select t.team_id, a.app_key, a.name, a.logo_url, a.status, a.stage from team_app t
        join ${joinedMicroApp(sql.part`t.app_key`)}
        where t.team_id = any(${teamIds}) order by t.given_at, t.app_key`,
  )

export const appsOfTeam = async (db: Db, teamId: string) =>
  (await appsOfTeams(db, [teamId])).map(({ team_id: _, ...app }) => app)

const ownApp = z.object({
  app_key: z.string(),
  name: z.string(),
  kind: z.enum(APP_KINDS),
  redirect_uris: z.array(z.string()),
  hosts: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
})

/** Apps of all their teams, newest last. */
export const appsOfPerson = (db: Db, person: UserRowKey) =>
  db.many(
    ownApp,
    sql`select a.app_key, a.name, t.kind, a.redirect_uris, a.hosts, a.scopes
        from team_member m join team_app t using (team_id) join ${joinedMicroApp(sql.part`t.app_key`)}
        where ${ofPerson(person, 'm')}
        order by t.given_at, t.app_key`,
  )

export const insertTeamApp = (db: Db, appKey: string, teamId: string, { kind, reasons }: AppFields, now: Date) =>
  db.exec(
    sql`insert into team_app (app_key, team_id, kind, reasons, given_at)
        values (${appKey}, ${teamId}, ${kind}, ${storableJson(reasons)}::jsonb, ${now})`,
  )

export const setReasons = (db: Db, appKey: string, given: object): Promise<number> =>
  db.exec(sql`update team_app set reasons = ${storableJson(given)}::jsonb where app_key = ${appKey}`)

const appAccess = z.object({
  app_key: z.string(),
  team_id: z.string(),
  team_name: z.string(),
  role: memberRole,
  kind: z.enum(APP_KINDS),
  reasons,
})
export type AppAccess = z.output<typeof appAccess>

/** The app with the person's role in its team; undefined for non-members, and for text that is not an app_key. */
export const findAppAccess = async (db: Db, person: UserRowKey, appKey: string): Promise<AppAccess | undefined> =>
  /^[A-Za-z0-9_-]{3,64}$/.test(appKey)
    ? db.maybe(
        appAccess,
        sql`select a.app_key, a.team_id, t.name as team_name, m.role, a.kind, a.reasons
            from team_app a join team t using (team_id) join team_member m using (team_id)
            where a.app_key = ${appKey} and ${ofPerson(person, 'm')}`,
      )
    : undefined

export const countApps = (db: Db, teamId: string): Promise<number> =>
  db.value(z.number(), sql`select count(*)::int as apps from team_app where team_id = ${teamId}`)

// ---- requests

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
    .extend({ kind: z.enum(APP_KINDS), reasons }),
  state: z.enum(REQUEST_STATES),
  asked_at: z.date(),
  /** updated_at of the app when the request was made; null in old requests. */
  based_on: z.date().nullable(),
  decided_at: z.date().nullable(),
  remark: z.string().nullable(),
})
export type AppRequest = z.output<typeof request>

const COLUMNS = sql.part`request_id, app_key, kind, asked, state, asked_at, based_on, decided_at, remark`

type NewRequest = Pick<AppRequest, 'request_id' | 'app_key' | 'kind' | 'based_on'> & { readonly asked: AppFields }

/** 0 if there is an open one. */
export const insertRequest = (db: Db, { request_id, app_key, kind, based_on, asked }: NewRequest, now: Date) =>
  db.exec(
    sql`insert into app_request (request_id, app_key, kind, asked, state, asked_at, based_on)
        values (${request_id}, ${app_key}, ${kind}, ${storableJson(asked)}::jsonb, 'open', ${now}, ${based_on})
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
  { state, remark }: Pick<AppRequest, 'state' | 'remark'>,
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
        where app_key = ${appKey} and state = 'open'
          and case when based_on is null then asked_at >= ${from} else based_on = ${from} end`,
  )

/** When the app moves to another team. */
export const withdrawOpen = (db: Db, appKey: string, now: Date): Promise<number> =>
  db.exec(
    sql`update app_request set state = 'withdrawn', decided_at = ${now} where app_key = ${appKey} and state = 'open'`,
  )

const listed = request
  .pick({ request_id: true, app_key: true, kind: true, state: true, asked_at: true })
  .extend({ name: z.string(), team: z.string().nullable() })

/** Oldest first. */
export const listRequests = (db: Db, { state, ...page }: RequestFilter) => {
  const listing = {
    row: listed,
    columns: sql.part`r.request_id, r.app_key, a.name, t.name as team, r.kind, r.state, r.asked_at`,
    from: sql.part`app_request r
        join ${joinedMicroApp(sql.part`r.app_key`)}
        left join team_app ta on ta.app_key = r.app_key left join team t on t.team_id = ta.team_id
        where r.state = ${state}`,
    keys: { 'r.asked_at': 'timestamptz', 'r.request_id': 'uuid' },
  }
  return listPage(db, listing, page)
}

import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { memberRole } from '../../platform/lib/member.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import { storableJson } from '../../platform/lib/storable.ts'
import { joinedMicroApp } from '../registry/index.ts'
import { APP_KINDS } from './wire.ts'

const reasons = z.partialRecord(z.enum(SCOPES), z.string())

const appOfTeam = z.object({
  app_key: z.string(),
  name: z.string(),
  logo_url: z.string().nullable(),
  status: z.string(),
  stage: z.string(),
})
export type AppOfTeam = z.output<typeof appOfTeam>

/** The apps of these teams, in the order in which they were given. */
export const appsOfTeams = (
  db: Db,
  teamIds: readonly string[],
): Promise<(AppOfTeam & { readonly team_id: string })[]> =>
  db.many(
    appOfTeam.extend({ team_id: z.string() }),
    sql`select t.team_id, a.app_key, a.name, a.logo_url, a.status, a.stage from team_app t
        join ${joinedMicroApp(sql.part`t.app_key`)}
        where t.team_id = any(${teamIds}) order by t.given_at, t.app_key`,
  )

export const appsOfTeam = async (db: Db, teamId: string): Promise<AppOfTeam[]> =>
  (await appsOfTeams(db, [teamId])).map(({ team_id: _, ...app }) => app)

const ownApp = z.object({
  app_key: z.string(),
  name: z.string(),
  kind: z.enum(APP_KINDS),
  redirect_uris: z.array(z.string()),
  hosts: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
})
export type OwnApp = z.output<typeof ownApp>

/** Apps of all their teams, newest last. */
export const appsOfPerson = (db: Db, person: UserRowKey): Promise<OwnApp[]> =>
  db.many(
    ownApp,
    sql`select a.app_key, a.name, t.kind, a.redirect_uris, a.hosts, a.scopes
        from team_member m join team_app t using (team_id) join ${joinedMicroApp(sql.part`t.app_key`)}
        where ${ofPerson(person, 'm')}
        order by t.given_at, t.app_key`,
  )

interface NewTeamApp {
  readonly appKey: string
  readonly teamId: string
  readonly kind: (typeof APP_KINDS)[number]
  readonly reasons: object
}

export const insertTeamApp = (db: Db, { appKey, teamId, kind, reasons: given }: NewTeamApp, now: Date) =>
  db.exec(
    sql`insert into team_app (app_key, team_id, kind, reasons, given_at)
        values (${appKey}, ${teamId}, ${kind}, ${storableJson(given)}::jsonb, ${now})`,
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

/** The app with the person's role in its team; undefined for non-members. */
export const findAppAccess = (db: Db, person: UserRowKey, appKey: string): Promise<AppAccess | undefined> =>
  db.maybe(
    appAccess,
    sql`select a.app_key, a.team_id, t.name as team_name, m.role, a.kind, a.reasons
        from team_app a join team t using (team_id) join team_member m using (team_id)
        where a.app_key = ${appKey}
          and ${ofPerson(person, 'm')}`,
  )

export const countApps = (db: Db, teamId: string): Promise<number> =>
  db.value(z.number(), sql`select count(*)::int as apps from team_app where team_id = ${teamId}`)

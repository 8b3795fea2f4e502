import { z } from 'zod'
import { beginsWith, cursorOf, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { TeamFilter } from './wire.ts'

const listedTeam = z.object({
  team_id: z.string(),
  name: z.string(),
  members: z.number(),
  owners: z.number(),
  apps: z.number(),
  created_at: z.date(),
})
export type ListedTeam = z.output<typeof listedTeam>

/** Oldest first. */
export async function listTeams(db: Db, { limit, after, name }: TeamFilter): Promise<Page<ListedTeam>> {
  const [createdAt, teamId] = after ?? []
  const found = await db.listWithCustomPlan(
    withCursor(listedTeam),
    sql`select t.team_id, t.name, t.created_at, ${cursorOf(sql.part`t.created_at, t.team_id`)},
          (select count(*)::int from team_member m where m.team_id = t.team_id) as members,
          (select count(*)::int from team_member m where m.team_id = t.team_id and m.role = 'owner') as owners,
          (select count(*)::int from team_app a where a.team_id = t.team_id) as apps
        from team t
        where (${createdAt}::timestamptz is null
            or (t.created_at, t.team_id) > (${createdAt}::timestamptz, ${teamId}::uuid))
          and (${name}::text is null or lower(t.name) like lower(${beginsWith(name)}))
        order by t.created_at, t.team_id limit ${limit + 1}`,
  )
  return pageOf(found, limit)
}

/** Two at most. */
export const teamsNamed = async (db: Db, name: string): Promise<string[]> =>
  (
    await db.many(
      z.object({ team_id: z.string() }),
      sql`select team_id from team where lower(name) = lower(${name}) order by team_id limit 2`,
    )
  ).map(({ team_id }) => team_id)

/** The team that has the app; an app belongs to one at most. */
export const giveApp = (db: Db, appKey: string, teamId: string, now: Date): Promise<number> =>
  db.exec(
    sql`insert into team_app (app_key, team_id, kind, given_at) values (${appKey}, ${teamId}, 'server', ${now})
        on conflict (app_key) do update set team_id = excluded.team_id, given_at = excluded.given_at`,
  )

/** The name of the team that has the app. */
export const teamOfApp = async (db: Db, appKey: string): Promise<string | undefined> =>
  (
    await db.maybe(
      z.object({ name: z.string() }),
      sql`select t.name from team_app a join team t using (team_id) where a.app_key = ${appKey}`,
    )
  )?.name

import { z } from 'zod'
import { beginsWith, listPage } from '../../platform/db/page.ts'
import { ofPerson, type PersonalRows, type UserRowKey, userRowKey } from '../../platform/db/personal-rows.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { keyOfRow, readByShard } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { userByKey } from '../account/index.ts'
import { REQUEST_RETENTION } from './app-store.ts'
import { INVITATION_RETENTION } from './invitation-store.ts'
import { type APP_KINDS, type Membership, membership, type TeamFilter, type TeamMember, teamMember } from './wire.ts'

/** Rows about a person as a developer. Teams and their apps stay. */
export const TEAMS_OF_PERSON: readonly PersonalRows[] = [
  { what: 'team_members', table: 'team_member', key: { team_id: 'uuid' }, shown: ['team_id', 'role', 'joined_at'] },
  { what: 'developers', table: 'developer', key: {}, shown: ['accepted_at'] },
]

/** 0 if they accepted before. The person is locked. */
export const insertDeveloper = (db: Db, key: UserRowKey, now: Date): Promise<number> =>
  db.exec(
    sql`insert into developer (routing_key, cid, user_id, accepted_at)
        values (${key.routingKey}, ${key.cid}, ${key.userId}, ${now})
        on conflict do nothing`,
  )

/** Whether this person has accepted the developer terms. */
export const isDeveloper = (db: Db, person: UserRowKey): Promise<boolean> =>
  db.value(z.boolean(), sql`select exists (select 1 from developer where ${ofPerson(person)}) as found`)

/** 0 if there is a team with this id. */
export const insertTeam = (db: Db, teamId: string, name: string, now: Date): Promise<number> =>
  db.exec(sql`insert into team (team_id, name, created_at) values (${teamId}, ${name}, ${now}) on conflict do nothing`)

export const renameTeam = (db: Db, teamId: string, name: string): Promise<number> =>
  db.exec(sql`update team set name = ${name} where team_id = ${teamId}`)

/** Serialises changes of one team; false if there is no such team. */
export const lockTeam = async (db: Db, teamId: string): Promise<boolean> =>
  (await db.exec(sql`select from team where team_id = ${teamId} for update`)) === 1

/** Locks all teams of the person, always in the same order. */
export const lockTeamsOf = (db: Db, person: UserRowKey): Promise<number> =>
  db.exec(
    sql`select from team where team_id = any (array(select team_id from team_member where ${ofPerson(person)}))
        order by team_id for update`,
  )

/** 0 if they are a member already. The person is locked. */
export const insertMember = (
  db: Db,
  key: UserRowKey,
  { teamId, memberId, role }: { teamId: string; memberId: string; role: MemberRole },
  now: Date,
) =>
  db.exec(
    sql`insert into team_member (routing_key, cid, user_id, team_id, member_id, role, joined_at)
        values (${key.routingKey}, ${key.cid}, ${key.userId}, ${teamId}, ${memberId}, ${role}, ${now})
        on conflict do nothing`,
  )

/** Ordered by name. */
export const teamsOfPerson = (db: Db, person: UserRowKey): Promise<Membership[]> =>
  db.many(
    membership,
    sql`select t.team_id, t.name, m.role, m.member_id from team_member m join team t using (team_id)
        where ${ofPerson(person, 'm')}
        order by lower(t.name), t.team_id`,
  )

/** The team with the person's role in it; undefined for non-members, and for text that is not an id. */
export const findMembership = async (db: Db, person: UserRowKey, teamId: string): Promise<Membership | undefined> =>
  isUuid(teamId)
    ? db.maybe(
        membership,
        sql`select t.team_id, t.name, m.role, m.member_id from team_member m join team t using (team_id)
            where ${ofPerson(person, 'm')} and m.team_id = ${teamId}`,
      )
    : undefined

const keyedMember = teamMember
  .omit({ name: true, is_active: true })
  .extend({ routing_key: z.number(), cid: z.number(), user_id: z.string() })
const named = teamMember.pick({ member_id: true, name: true, is_active: true })

const KEYED = (row: z.output<typeof keyedMember>) => sql.part`
  ${row.member_id}::uuid as member_id, ${row.routing_key}::int as routing_key, ${row.cid}::int as cid,
  ${row.user_id}::text as user_id`

/** In order of joining. Two statements, since profiles may be on other shards. */
export async function listMembers(db: Db, teamId: string): Promise<TeamMember[]> {
  const members = await db.many(
    keyedMember,
    sql`select member_id, routing_key, cid, user_id, role, joined_at from team_member
        where team_id = ${teamId} order by joined_at, member_id`,
  )
  const profiles = await readByShard(db, members, keyOfRow, (shard, own) =>
    shard.many(
      named,
      sql`select m.member_id, u.name, u.status = 'active' as is_active from ${sql.rows('m', own, KEYED)}
          cross join ${userByKey(sql.part`m.routing_key`, sql.part`m.cid`, sql.part`m.user_id`)} u`,
    ),
  )
  const found = new Map(profiles.map((profile) => [profile.member_id, profile]))
  return members.flatMap(({ member_id, role, joined_at }) => {
    const profile = found.get(member_id)
    return profile ? [{ ...profile, role, joined_at }] : []
  })
}

export const findMember = (db: Db, teamId: string, memberId: string) =>
  db.maybe(
    teamMember.pick({ member_id: true, role: true }),
    sql`select member_id, role from team_member where team_id = ${teamId} and member_id = ${memberId}`,
  )

export const countMembers = (db: Db, teamId: string): Promise<number> =>
  db.value(z.number(), sql`select count(*)::int as members from team_member where team_id = ${teamId}`)

export const setRole = (db: Db, memberId: string, role: MemberRole): Promise<number> =>
  db.exec(sql`update team_member set role = ${role} where member_id = ${memberId}`)

export const deleteMember = (db: Db, memberId: string): Promise<number> =>
  db.exec(sql`delete from team_member where member_id = ${memberId}`)

/** Owners of the team that has the app, always in the same order: notifying them locks a row each. */
export const ownersOf = (db: Db, appKey: string): Promise<UserRowKey[]> =>
  db.many(
    userRowKey,
    sql`select m.routing_key as "routingKey", m.cid, m.user_id as "userId"
        from team_app a join team_member m using (team_id) where a.app_key = ${appKey} and m.role = 'owner'
        order by m.routing_key, m.cid, m.user_id`,
  )

/** Locks until the end of the transaction; false if the person is not a developer. */
export const lockDeveloper = async (db: Db, person: UserRowKey): Promise<boolean> =>
  (await db.exec(sql`select from developer where ${ofPerson(person)} for update`)) === 1

export const TEAM_RETENTION: readonly Retention[] = [...INVITATION_RETENTION, ...REQUEST_RETENTION]

const team = z.object({ team_id: z.string(), name: z.string(), created_at: z.date() })

export const findTeam = (db: Db, teamId: string) =>
  db.maybe(team, sql`select team_id, name, created_at from team where team_id = ${teamId}`)

const listedTeam = team.extend({
  members: z.number(),
  owners: z.number(),
  invitations: z.number(),
  apps: z.number(),
})

/** Oldest first. */
export const listTeams = (db: Db, now: Date, { name, ...page }: TeamFilter) => {
  const listing = {
    row: listedTeam,
    columns: sql.part`t.team_id, t.name, t.created_at,
          (select count(*)::int from team_member m where m.team_id = t.team_id) as members,
          (select count(*)::int from team_member m where m.team_id = t.team_id and m.role = 'owner') as owners,
          (select count(*)::int from team_invitation i where i.team_id = t.team_id and i.expires_at > ${now}) as invitations,
          (select count(*)::int from team_app a where a.team_id = t.team_id) as apps`,
    from: sql.part`team t where (${name}::text is null or lower(t.name) like lower(${beginsWith(name)}))`,
    keys: { 't.created_at': 'timestamptz', 't.team_id': 'uuid' },
  }
  return listPage(db, listing, page)
}

/** The newest teams: by name, or by id where several teams share a name. */
export const teamsToOffer = (db: Db, most: number): Promise<string[]> =>
  db.values(
    z.string(),
    sql`select case when exists (select 1 from team other where lower(other.name) = lower(t.name) and other.team_id <> t.team_id)
          then t.team_id::text else t.name end
        from (select team_id, name, created_at from team order by created_at desc, team_id desc limit ${most}) t
        order by t.created_at desc, t.team_id desc`,
  )

/** At most two. */
export const teamsNamed = (db: Db, name: string): Promise<string[]> =>
  db.values(z.string(), sql`select team_id from team where lower(name) = lower(${name}) order by team_id limit 2`)

/** An app belongs to at most one team. `kind`: where it runs, if it has had none. */
export const giveApp = (db: Db, appKey: string, teamId: string, kind: (typeof APP_KINDS)[number], now: Date) =>
  db.exec(
    sql`insert into team_app (app_key, team_id, kind, given_at) values (${appKey}, ${teamId}, ${kind}, ${now})
        on conflict (app_key) do update set team_id = excluded.team_id, given_at = excluded.given_at`,
  )

export const teamOfApp = (db: Db, appKey: string) =>
  db.maybe(
    z.object({ team: z.string(), team_id: z.string() }),
    sql`select t.name as team, team_id from team_app a join team t using (team_id) where a.app_key = ${appKey}`,
  )

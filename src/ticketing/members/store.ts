import { z } from 'zod'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { type MemberRole, memberRole, type NewMember } from '../../platform/lib/member.ts'
import { COUNTS } from './link-store.ts'
import { type Member, member } from './wire.ts'

/** Removed members are kept as long as the audit log may refer to them. */
const REMOVED_KEPT_S = 455 * DAY_S

export const MEMBER_RETENTION: readonly Retention[] = [
  { table: 'partner_member', key: ['member_id'], column: 'removed_at', keptS: () => REMOVED_KEPT_S },
  { table: 'member_link', key: ['link_id'], column: 'expires_at', keptS: () => 7 * DAY_S },
]

export const insertMember = (
  db: Db,
  partnerId: bigint,
  row: NewMember & { readonly member_id: string; readonly mail_key: string },
  now: Date,
) =>
  db.exec(
    sql`insert into partner_member (member_id, partner_id, mail, mail_key, role, invited_at)
        values (${row.member_id}, ${partnerId}, ${row.mail}, ${row.mail_key}, ${row.role}, ${now})`,
  )

/** Those who are not removed, each with the newest invitation: first those who have joined, then by invitation. */
export const listMembers = (db: Db, partnerId: bigint): Promise<Member[]> =>
  db.many(
    member,
    sql`select m.member_id, m.mail, m.role, m.invited_at, m.joined_at, invitation.expires_at as invited_until,
          coalesce(invitation.counts, true) as invitation_counts, invitation.mail_state, invitation.mail_error
        from partner_member m
        left join lateral (
          select l.expires_at, l.mail_state, l.mail_error, ${COUNTS} as counts from member_link l
          where l.member_id = m.member_id and l.purpose = 'invitation' and m.joined_at is null
          order by l.created_at desc limit 1
        ) invitation on true
        where m.partner_id = ${partnerId} and m.removed_at is null
        order by m.joined_at is null, m.invited_at, m.member_id`,
  )

/** Counts members who are not removed: all, owners who have joined, open invitations. */
export const countMembers = (db: Db, partnerId: bigint, now: Date) =>
  db.one(
    z.object({ all: z.number(), owners: z.number(), open: z.number() }),
    sql`select count(*)::int as all,
          count(*) filter (where joined_at is not null and role = 'owner')::int as owners,
          count(*) filter (where joined_at is null and exists (
            select 1 from member_link
            where member_link.member_id = partner_member.member_id and purpose = 'invitation' and expires_at > ${now}
          ))::int as open
        from partner_member where partner_id = ${partnerId} and removed_at is null`,
  )

/** Whether somebody has joined and is not removed: then the clientSecret no longer signs in. */
export const hasJoinedMember = (db: Db, partnerId: bigint): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select exists (select 1 from partner_member
          where partner_id = ${partnerId} and joined_at is not null and removed_at is null) as found`,
  )

/** When a member was last removed; invitations that were withdrawn do not count. */
export const newestRemoval = (db: Db, partnerId: bigint): Promise<Date | undefined> =>
  db.maybeValue(
    z.date(),
    sql`select removed_at from partner_member
        where partner_id = ${partnerId} and joined_at is not null and removed_at is not null
        order by removed_at desc limit 1`,
  )

const known = z.object({ member_id: z.string(), mail: z.string(), role: memberRole, joined_at: z.date().nullable() })
export type KnownMember = z.output<typeof known>

/** A member who is not removed; undefined also for text that is not a UUID. */
export const findMember = (db: Db, partnerId: bigint, memberId: string): Promise<KnownMember | undefined> =>
  db.maybe(
    known,
    sql`select member_id, mail, role, joined_at from partner_member
        where partner_id = ${partnerId} and member_id::text = ${memberId} and removed_at is null`,
  )

export const findMemberByMail = (db: Db, partnerId: bigint, mailKey: string): Promise<KnownMember | undefined> =>
  db.maybe(
    known,
    sql`select member_id, mail, role, joined_at from partner_member
        where partner_id = ${partnerId} and mail_key = ${mailKey} and removed_at is null`,
  )

export const findCredential = (db: Db, partnerId: bigint, mailKey: string) =>
  db.maybe(
    z.object({ member_id: z.string(), password_hash: z.string(), credential_version: z.number() }),
    sql`select member_id, password_hash, credential_version
        from partner_member
        where partner_id = ${partnerId} and mail_key = ${mailKey} and removed_at is null and joined_at is not null`,
  )

export const setRole = (db: Db, memberId: string, role: MemberRole): Promise<number> =>
  db.exec(sql`update partner_member set role = ${role} where member_id = ${memberId}`)

/** The first password makes somebody a member; earlier sessions end. Returns the version of the new password. */
export const setPassword = (db: Db, memberId: string, passwordHash: string, now: Date): Promise<number> =>
  db.value(
    z.number(),
    sql`update partner_member set password_hash = ${passwordHash}, joined_at = coalesce(joined_at, ${now}),
            credential_version = credential_version + 1
          where member_id = ${memberId} returning credential_version`,
  )

export const removeMember = (db: Db, memberId: string, now: Date): Promise<number> =>
  db.exec(
    sql`update partner_member set removed_at = ${now}, password_hash = null, credential_version = credential_version + 1
        where member_id = ${memberId}`,
  )

import { z } from 'zod'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { type MailState, type MemberRole, memberRole, type NewMember } from '../../platform/lib/member.ts'
import { LINK_PURPOSES, type LinkPurpose, type Member, member } from './wire.ts'

// ---- links in invitations and to new passwords

interface NewLink {
  readonly link_id: string
  readonly link_hash: Buffer
  readonly purpose: LinkPurpose
  readonly expires_at: Date
  /** The owner (member_id) who sent an invitation; null for operators, a clientSecret, and links for passwords. */
  readonly invited_by: string | null
}

/** An invitation counts only while who sent it might send it. For a link `l`. */
const COUNTS = sql.part`(l.invited_by is null or exists (
  select 1 from partner_member s where s.member_id = l.invited_by and s.role = 'owner' and s.removed_at is null))`

/** 0 if it was made before. */
export const insertLink = (db: Db, memberId: string, link: NewLink, now: Date): Promise<number> =>
  db.exec(
    sql`insert into member_link (link_id, link_hash, member_id, purpose, invited_by, created_at, expires_at, mail_state)
        values (${link.link_id}, ${link.link_hash}, ${memberId}, ${link.purpose}, ${link.invited_by}, ${now},
          ${link.expires_at}, 'waiting')
        on conflict (link_id) do nothing`,
  )

const stored = z.object({
  linkId: z.string(),
  linkHash: z.instanceof(Buffer),
  memberId: z.string(),
  partnerId: z.coerce.bigint(),
  purpose: z.enum(LINK_PURPOSES),
  expiresAt: z.date(),
  usedAt: z.date().nullable(),
  mail: z.string(),
  role: memberRole,
})

const LINKS = sql.part`select l.link_id as "linkId", l.link_hash as "linkHash", l.member_id as "memberId",
    m.partner_id as "partnerId", l.purpose, l.expires_at as "expiresAt", l.used_at as "usedAt", m.mail, m.role
  from member_link l join partner_member m using (member_id)`

/** The link and its member; undefined if that member was removed, or the invitation no longer counts. */
export const findLink = (db: Db, linkHash: Buffer) =>
  db.maybe(stored, sql`${LINKS} where l.link_hash = ${linkHash} and m.removed_at is null and ${COUNTS}`)

/** True for exactly one of any number of simultaneous callers. */
export const spendLink = async (db: Db, linkId: string, now: Date): Promise<boolean> =>
  (await db.exec(sql`update member_link set used_at = ${now} where link_id = ${linkId} and used_at is null`)) === 1

export const deleteOtherLinks = (db: Db, memberId: string, linkId: string | null): Promise<number> =>
  db.exec(sql`delete from member_link where member_id = ${memberId} and link_id is distinct from ${linkId}::uuid`)

/** The link of a mail to send; undefined if the mail was sent, or the link can no longer be used. */
export const findUnsent = (db: Db, linkId: string, now: Date) =>
  db.maybe(
    stored,
    sql`${LINKS} where l.link_id = ${linkId} and l.mail_state <> 'sent' and l.used_at is null and l.expires_at > ${now}
          and m.removed_at is null and ${COUNTS}`,
  )

/** `error` is for the partner's owners. What has been sent stays so, even if another worker's attempt fails later. */
export const setMemberMailState = (db: Db, linkId: string, state: MailState, error: string | null = null) =>
  db.exec(
    sql`update member_link set mail_state = ${state}, mail_error = ${error}
        where link_id = ${linkId} and mail_state <> 'sent'`,
  )

// ---- members

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

import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { type MailState, memberRole } from '../../platform/lib/member.ts'
import { LINK_PURPOSES, type LinkPurpose } from './wire.ts'

interface NewLink {
  readonly link_id: string
  readonly link_hash: Buffer
  readonly purpose: LinkPurpose
  readonly expires_at: Date
  /** The owner (member_id) who sent an invitation; null for operators, a clientSecret, and links for passwords. */
  readonly invited_by: string | null
}

/** An invitation counts only while who sent it might send it. For a link `l`. */
export const COUNTS = sql.part`(l.invited_by is null or exists (
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

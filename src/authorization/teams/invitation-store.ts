import { z } from 'zod'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import type { MailState } from '../../platform/lib/member.ts'
import { type Invitation, invitation } from './wire.ts'

export const INVITATION_RETENTION: readonly Retention[] = [
  { table: 'team_invitation', key: ['invitation_id'], column: 'expires_at', keptS: () => 7 * DAY_S },
]

interface Link extends Pick<Invitation, 'expires_at' | 'invited_by'> {
  readonly link_id: string
  readonly link_hash: Buffer
}

interface NewInvitation extends Pick<Invitation, 'invitation_id' | 'mail' | 'role'>, Link {
  readonly mail_key: string
}

/** Replaces an expired invitation of this address; 0 if there is an open one. */
export const insertInvitation = (db: Db, teamId: string, invited: NewInvitation, now: Date): Promise<number> =>
  db.exec(
    sql`insert into team_invitation
          (invitation_id, team_id, mail, mail_key, role, link_id, link_hash, invited_by, invited_at, expires_at, mail_state)
        values (${invited.invitation_id}, ${teamId}, ${invited.mail}, ${invited.mail_key}, ${invited.role},
          ${invited.link_id}, ${invited.link_hash}, ${invited.invited_by}, ${now}, ${invited.expires_at}, 'waiting')
        on conflict (team_id, mail_key) do update set invitation_id = excluded.invitation_id, mail = excluded.mail,
          role = excluded.role, link_id = excluded.link_id, link_hash = excluded.link_hash,
          invited_by = excluded.invited_by, invited_at = excluded.invited_at, expires_at = excluded.expires_at,
          mail_state = 'waiting', mail_error = null
          where team_invitation.expires_at <= ${now}`,
  )

/** The former link stops working. */
export const replaceLink = (db: Db, invitationId: string, link: Link, now: Date): Promise<number> =>
  db.exec(
    sql`update team_invitation set link_id = ${link.link_id}, link_hash = ${link.link_hash},
          invited_by = ${link.invited_by}, expires_at = ${link.expires_at}, invited_at = ${now},
          mail_state = 'waiting', mail_error = null
        where invitation_id = ${invitationId}`,
  )

const COLUMNS = sql.part`invitation_id, mail, role, invited_by, invited_at, expires_at, mail_state, mail_error`

export const listInvitations = (db: Db, teamId: string): Promise<Invitation[]> =>
  db.many(
    invitation,
    sql`select ${COLUMNS} from team_invitation where team_id = ${teamId} order by invited_at, invitation_id`,
  )

export const findInvitation = (db: Db, teamId: string, invitationId: string): Promise<Invitation | undefined> =>
  db.maybe(
    invitation,
    sql`select ${COLUMNS} from team_invitation where team_id = ${teamId} and invitation_id = ${invitationId}`,
  )

export const countOpen = (db: Db, teamId: string, now: Date): Promise<number> =>
  db.value(
    z.number(),
    sql`select count(*)::int as open from team_invitation where team_id = ${teamId} and expires_at > ${now}`,
  )

/** True for exactly one of concurrent callers. */
export const deleteInvitation = async (db: Db, invitationId: string): Promise<boolean> =>
  (await db.exec(sql`delete from team_invitation where invitation_id = ${invitationId}`)) === 1

const opened = z.object({
  invitation_id: z.string(),
  team_id: z.string(),
  team_name: z.string(),
  role: invitation.shape.role,
  invited_by: invitation.shape.invited_by,
})

export const findByLink = (db: Db, linkHash: Buffer) =>
  db.maybe(
    opened,
    sql`select i.invitation_id, i.team_id, t.name as team_name, i.role, i.invited_by
        from team_invitation i join team t using (team_id) where i.link_hash = ${linkHash}`,
  )

const unsent = opened.pick({ team_id: true, invited_by: true }).extend({
  link_hash: z.instanceof(Buffer),
  mail: z.string(),
  team_name: z.string(),
  expires_at: z.date(),
})

/** Undefined if the mail has been sent, or the link can no longer be used. */
export const findUnsent = (db: Db, linkId: string, now: Date) =>
  db.maybe(
    unsent,
    sql`select i.team_id, i.invited_by, i.link_hash, i.mail, t.name as team_name, i.expires_at
        from team_invitation i join team t using (team_id)
        where i.link_id = ${linkId} and i.mail_state <> 'sent' and i.expires_at > ${now}`,
  )

/** `error` is for the team's owners. What has been sent stays so, even if another worker's attempt fails later. */
export const setTeamMailState = (db: Db, linkId: string, state: MailState, error: string | null = null) =>
  db.exec(
    sql`update team_invitation set mail_state = ${state}, mail_error = ${error}
        where link_id = ${linkId} and mail_state <> 'sent'`,
  )

import { randomUUID } from 'node:crypto'
import type { MemberRole } from '../../src/platform/lib/member.ts'
import { inviteMember } from '../../src/ticketing/members/change.ts'
import { findMemberMail } from '../../src/ticketing/members/link.ts'
import { sendPasswordLink, useLink } from '../../src/ticketing/members/password.ts'
import type { World } from '../harness.ts'
import { cookieOf, post, type SandboxPartner } from '../sandbox/partners.ts'

/** Members of a partner, without a mail server: the links are read as the mail job would read them. */

export const PASSWORD = 'correct horse battery'

/** The token of the newest unused link for this address, of this partner if given. */
export async function tokenFor(
  world: World,
  mail: string,
  partner?: Pick<SandboxPartner, 'partner_id'>,
): Promise<string> {
  const { rows } = await world.pool.query(
    `select link_id from member_link join partner_member using (member_id)
     where mail = $1 and mail_state = 'waiting' and used_at is null and ($2::bigint is null or partner_id = $2)
     order by member_link.created_at desc, member_link.ctid desc limit 1`,
    [mail, partner?.partner_id ?? null],
  )
  const found = await findMemberMail(world.deps, rows[0]?.link_id)
  if (!found) throw new Error(`no link for ${mail}`)
  return found.token
}

export async function invited(world: World, partner: SandboxPartner, mail: string, role: MemberRole = 'owner') {
  const memberId = await inviteMember(world.deps, partner.partner_id, { mail, role })
  return { memberId, token: await tokenFor(world, mail, partner) }
}

/** Invites and joins; returns the member_id. */
export async function joined(world: World, partner: SandboxPartner, mail: string, role: MemberRole = 'owner') {
  const { memberId, token } = await invited(world, partner, mail, role)
  await useLink(world.deps, token, PASSWORD)
  return memberId
}

export const signInMember = (
  world: World,
  { client_id }: Pick<SandboxPartner, 'client_id'>,
  mail: string,
  { password = PASSWORD, headers = {} }: { password?: string; headers?: Record<string, string> } = {},
) => post(world, '/sandbox/sign-in', { client_id, mail, password }, headers)

export const memberSession = async (world: World, partner: SandboxPartner, mail: string, password = PASSWORD) =>
  cookieOf(await signInMember(world, partner, mail, { password }))

/** Does what the job does for a forgotten password, and returns the token. */
export const askedForPassword = async (world: World, partner: SandboxPartner, mail: string): Promise<string> => {
  await sendPasswordLink(world.deps, { clientId: partner.client_id, mail, linkId: randomUUID() })
  return tokenFor(world, mail, partner)
}

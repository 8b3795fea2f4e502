import type { Command } from 'commander'
import type { OutputOf } from '../lib/json/input.ts'
import { inviteMember, listMembers, removeMemberByMail } from '../members/index.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { one, withKeyArgument } from './partner-key.ts'
import { aligned, readable } from './text.ts'

const FLAGS = { partner_id: 'partner_id' }

/** `gatehouse partner members …`: who signs in to the sandbox; as over /admin/v1/partners/:partner_id/members. */
export function memberCommands(partner: Command, context: CliContext): void {
  const members = partner.command('members').description('people who sign in to the sandbox with their own password')
  defineCommand(withKeyArgument(members, 'list', 'everybody who has joined or is invited'), context, {
    input: one,
    inputFrom: (_, partner_id) => ({ partner_id }),
    run: async (deps, { partner_id }) => ({ members: await listMembers(deps, partner_id) }),
    text: ({ members: found }) => table(found),
    flags: FLAGS,
  })
  const invite = withKeyArgument(
    members,
    'invite',
    'send a link with which somebody joins; the first one must be an owner',
  )
    .option('--mail <address>', 'where the link is sent, and what the member signs in with')
    .option('--role <role>', 'owner or developer')
  defineCommand(invite, context, {
    input: inviteMember.input.extend(one.shape),
    inputFrom: ({ mail, role }, partner_id) => ({ partner_id, mail, role }),
    run: async (deps, { partner_id, ...who }) => {
      await inviteMember(deps, partner_id, who)
      return { members: await listMembers(deps, partner_id) }
    },
    text: ({ members: found }) => table(found),
    flags: FLAGS,
  })
  const remove = withKeyArgument(
    members,
    'remove',
    'remove a member, whose sessions end, or an invitation; without any member the clientSecret signs in again',
  ).option('--mail <address>', 'whom')
  defineCommand(remove, context, {
    input: removeMemberByMail.input.extend(one.shape),
    inputFrom: ({ mail }, partner_id) => ({ partner_id, mail }),
    run: async (deps, { partner_id, ...who }) => {
      await removeMemberByMail(deps, partner_id, who)
      return { members: await listMembers(deps, partner_id) }
    },
    text: ({ members: found }) => table(found),
    flags: FLAGS,
  })
}

function table(members: Readonly<OutputOf<typeof listMembers>>): string {
  if (members.length === 0) return 'no members: the clientSecret signs in to the sandbox'
  const rows = members.map(({ mail, role, joined_at, invited_at, mail_state }) => [
    role,
    readable(invited_at),
    readable(joined_at),
    readable(joined_at ? null : mail_state),
    mail,
  ])
  return aligned([['ROLE', 'INVITED', 'JOINED', 'MAIL SENT', 'MAIL'], ...rows])
}

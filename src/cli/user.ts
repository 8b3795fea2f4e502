import type { Command } from 'commander'
import { blockUser, createUser, listUsers, resetPassword, showUser, unblockUser, userKey } from '../account/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import type { CliContext } from './context.ts'
import { endSessionsCommand } from './ending.ts'
import { factorCommands } from './factors.ts'
import { keyed, keyOf } from './field-options.ts'
import { importCommand } from './import.ts'
import { defineListCommand } from './list.ts'
import { defineCommand } from './operation.ts'
import { personCommands } from './person.ts'
import { readSecret } from './read-secret.ts'
import { aligned, readable } from './text.ts'

type User = OutputOf<typeof showUser>

/** `gatehouse user …`: as over /admin/v1/users. */
export function userCommands(program: Command, context: CliContext): void {
  const user = program.command('user').description('users: who can sign in and be asked for consent')
  createCommand(user, context)
  endSessionsCommand(user, context)
  resetCommand(user, context)
  factorCommands(user, context)
  importCommand(user, context)
  personCommands(user, context)
  const list = user
    .command('list')
    .description('users, oldest first')
    .option('--passport <beginning>', 'only those whose passport begins with this (not with other filters)')
    .option('--name <beginning>', 'only those whose name begins with this')
    .option('--phone-number <beginning>', 'only those whose phone number begins with this')
    .option('--status <status>', 'active or blocked')
  defineListCommand(list, context, {
    plural: 'users',
    input: listUsers.input,
    inputFrom: ({ passport, name, phoneNumber, status }) => ({ passport, name, phone_number: phoneNumber, status }),
    page: listUsers,
    table,
  })
  const show = keyed(user.command('show').description('one user; personal data is masked unless there is a reason'))
  defineCommand(show.option('--reason <text>', 'why it is read unmasked; the audit log keeps it'), context, {
    input: showUser.input,
    inputFrom: (options) => ({ ...keyOf(options), reason: options.reason }),
    run: showUser,
    text: details,
  })
  defineCommand(keyed(user.command('block').description('block a user from every flow (20016)')), context, {
    input: userKey,
    inputFrom: keyOf,
    run: blockUser,
    text: details,
  })
  defineCommand(keyed(user.command('unblock').description('unblock a user')), context, {
    input: userKey,
    inputFrom: keyOf,
    run: unblockUser,
    text: details,
  })
}

function resetCommand(user: Command, context: CliContext): void {
  const command = user
    .command('reset-password')
    .description('make a link with which the person sets a new password, once, within a day; show it to nobody else')
  defineCommand(keyed(command), context, {
    input: userKey,
    inputFrom: keyOf,
    run: resetPassword,
    text: ({ url, expires_at }) => `${url}\nworks once, until ${readable(expires_at)}`,
  })
}

function createCommand(user: Command, context: CliContext): void {
  const command = keyed(user.command('create').description('add a user'))
    .option('--passport <passport>', 'the name to sign in with')
    .option(
      '--password-stdin',
      'read the password from standard input instead of asking for it (at least 8 characters)',
    )
    .option('--password <password>', 'visible to everybody who can list processes: only for throw-away users')
    .option('--name <name>', 'shown to the user and to micro-apps')
    .option('--gender <digit>', '0 unknown, 1 male, 2 female (default: 0)')
    .option('--big-avatar-url <url>', 'the picture')
    .option('--phone-number <number>', 'none if not given')
    .option('--status <status>', 'active or blocked (default: active)')
  defineCommand(command, context, {
    input: createUser.input,
    inputFrom: async (options) => ({
      ...keyOf(options),
      passport: options.passport,
      password: await passwordOf(context, options),
      name: options.name,
      gender: options.gender,
      big_avatar_url: options.bigAvatarUrl,
      phone_number: options.phoneNumber,
      status: options.status,
    }),
    run: createUser,
    text: details,
  })
}

async function passwordOf(
  { terminal }: CliContext,
  { password, passwordStdin }: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  if (password === undefined) {
    return readSecret(terminal, {
      field: 'password',
      question: 'Password',
      fromInput: passwordStdin === true,
      twice: true,
    })
  }
  terminal.stderr.write(
    '--password is visible to everybody who can list processes; type the password instead, or use --password-stdin\n',
  )
  return password
}

const details = (user: User): string => aligned(Object.entries(user).map(([field, value]) => [field, readable(value)]))

function table(users: readonly User[]): string {
  if (users.length === 0) return 'no users'
  const rows = users.map((user) => [String(user.cid), user.user_id, user.status, user.passport, user.name])
  return aligned([['CID', 'USER_ID', 'STATUS', 'PASSPORT', 'NAME'], ...rows])
}

import { once } from 'node:events'
import type { Command } from 'commander'
import { z } from 'zod'
import { userKey } from '../account/index.ts'
import {
  countErasable,
  type Erasable,
  eraseUser,
  exportedUser,
  exportUser,
  listDeletionRequests,
  type Receipt,
} from '../people/index.ts'
import { accessFilter, listAccesses } from '../resource/index.ts'
import type { CliContext } from './context.ts'
import { keyed, keyOf } from './field-options.ts'
import { defineListCommand } from './list.ts'
import { defineCommand, defineCustomCommand } from './operation.ts'
import { streamRemote } from './remote.ts'
import { aligned, readable } from './text.ts'

/** `gatehouse user accesses`, `deletion-requests`, `erase` and `export`: what there is about one person. */
export function personCommands(user: Command, context: CliContext): void {
  accessesCommand(user, context)
  deletionRequestsCommand(user, context)
  eraseCommand(user, context)
  exportCommand(user, context)
}

function accessesCommand(user: Command, context: CliContext): void {
  const command = user
    .command('accesses')
    .description(
      'which apps have read the profile or phone number of a user, newest hour first; the audit log keeps it',
    )
  defineListCommand(keyed(command), context, {
    plural: 'accesses',
    input: accessFilter,
    inputFrom: keyOf,
    page: listAccesses,
    table: (accesses) => {
      if (accesses.length === 0) return 'nothing was read'
      const rows = accesses.map(({ hour, app_key, kind, reads, last_at }) => [
        readable(hour),
        app_key,
        kind,
        String(reads),
        readable(last_at),
      ])
      return aligned([['HOUR', 'APP_KEY', 'WHAT', 'READS', 'LAST'], ...rows])
    },
  })
}

function deletionRequestsCommand(user: Command, context: CliContext): void {
  const command = user
    .command('deletion-requests')
    .description('who has asked for the deletion of the account, oldest first; user erase does it')
  defineListCommand(command, context, {
    plural: 'requests',
    input: listDeletionRequests.input,
    inputFrom: () => ({}),
    page: listDeletionRequests,
    table: (requests) => {
      if (requests.length === 0) return 'nobody has asked'
      const rows = requests.map(({ cid, user_id, requested_at, due_at }) => [
        String(cid),
        user_id,
        readable(requested_at),
        readable(due_at),
      ])
      return aligned([['CID', 'USER_ID', 'ASKED', 'DELETED BY ITSELF'], ...rows])
    },
  })
}

function eraseCommand(user: Command, context: CliContext): void {
  const command = user.command('erase').description('delete everything about a person for good; prints a receipt')
  defineCommand(keyed(command).option('--yes', 'do it; without it the command says what would go'), context, {
    input: z.strictObject({ ...userKey.shape, yes: z.boolean().default(false) }),
    inputFrom: (options) => ({ ...keyOf(options), yes: options.yes }),
    run: (deps, { yes, ...key }): Promise<Erasable | Receipt> =>
      yes ? eraseUser(deps, key) : countErasable(deps, key),
    route: ({ yes, ...fields }) => ({ route: `${yes === true ? 'POST' : 'GET'} /users/erase`, fields }),
    text: (output) => ('receipt_id' in output ? receiptText(output) : erasableText(output)),
  })
}

const rowsText = ({ rows }: Erasable): string =>
  aligned(Object.entries(rows).map(([what, count]) => [what.replaceAll('_', ' '), String(count)]))

const erasableText = (found: Erasable): string =>
  `would be permanently deleted; repeat with --yes to do it\n\n${rowsText(found)}`

const receiptText = (receipt: Receipt): string =>
  [
    `receipt ${receipt.receipt_id}: ${receipt.cid}/${receipt.user_id} was erased at ${readable(receipt.erased_at)}`,
    '',
    'deleted:',
    rowsText(receipt),
    '',
    'kept:',
    ...receipt.stays.map(({ what, why }) => `${what}: ${why}`),
  ].join('\n')

function exportCommand(user: Command, context: CliContext): void {
  const command = user
    .command('export')
    .description('everything that is kept about a person, as JSON on standard output')
    .option('--reason <text>', 'why it is read; the audit log keeps it')
  const inputFrom = (options: Readonly<Record<string, unknown>>) => ({ ...keyOf(options), reason: options.reason })
  defineCustomCommand(keyed(command), { input: exportedUser, inputFrom }, async (input, _json, fields) => {
    const write = async (parts: AsyncIterable<string | Buffer>) => {
      for await (const part of parts)
        if (!context.terminal.stdout.write(part)) await once(context.terminal.stdout, 'drain')
    }
    const route = 'GET /users/:cid/:user_id/export'
    if (context.remote) await write(await streamRemote(context.remote, { route, fields }))
    else await context.withDeps(async (deps) => write(await exportUser(deps, input)))
  })
}

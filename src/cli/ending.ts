import type { Command } from 'commander'
import { z } from 'zod'
import { endSessionsOfUser, userKey } from '../account/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { previewRevocation } from '../oauth/index.ts'
import type { CliContext } from './context.ts'
import { keyed, keyOf } from './field-options.ts'
import { defineCommand } from './operation.ts'
import { readable } from './text.ts'

const sure = { yes: z.boolean().default(false) }
/** Only GET without --yes. */
const methodFor = (yes: unknown): string => (yes === true ? 'POST' : 'GET')
const YES = 'carry it out; without --yes the command only lists what would end'

/** `gatehouse user end-sessions`: ends all sessions, grants and tokens of a person at once. */
export function endSessionsCommand(user: Command, context: CliContext): void {
  const command = user.command('end-sessions').description('end all sessions, grants and tokens of a user at once')
  defineCommand(keyed(command).option('--yes', YES), context, {
    input: z.strictObject({ ...userKey.shape, ...sure }),
    inputFrom: (options) => ({ ...keyOf(options), yes: options.yes }),
    run: (deps, { yes, ...key }): Promise<OutputOf<typeof previewRevocation.ofUser> | Ended> =>
      yes ? endSessionsOfUser(deps, key) : previewRevocation.ofUser(deps, key),
    route: ({ yes, ...fields }) => ({ route: `${methodFor(yes)} /users/end-sessions`, fields }),
    text: (output) =>
      'valid_from' in output
        ? ended(output)
        : asked(`${output.sessions} browser sessions, and ${output.tokens} tokens of ${output.apps} micro-apps`),
  })
}

interface Ended {
  readonly valid_from: Date | null
}

const asked = (what: string): string => `would end ${what}; repeat with --yes to do it`
const ended = ({ valid_from }: Ended): string => `everything issued before ${readable(valid_from)} is revoked`

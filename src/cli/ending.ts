import type { Command } from 'commander'
import { z } from 'zod'
import { endSessionsOfUser, userKey } from '../account/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { previewRevocation } from '../oauth/index.ts'
import { endTokensOfApp } from '../registry/index.ts'
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

/** `gatehouse app end-tokens`: ends all grants and tokens of an app at once. */
export function endTokensCommand(app: Command, context: CliContext): void {
  const command = app
    .command('end-tokens')
    .description('end all grants and tokens of a micro-app at once')
    .argument('[app_key]')
    .usage('<app_key> [options]')
  defineCommand(command.option('--yes', YES), context, {
    input: z.strictObject({ app_key: z.string(), ...sure }),
    inputFrom: ({ yes }, app_key) => ({ app_key, yes }),
    run: (deps, { yes, app_key }): Promise<OutputOf<typeof previewRevocation.ofApp> | Ended> =>
      yes ? endTokensOfApp(deps, app_key) : previewRevocation.ofApp(deps, app_key),
    route: ({ yes, ...fields }) => ({ route: `${methodFor(yes)} /apps/:app_key/end-tokens`, fields }),
    text: (output) =>
      'valid_from' in output ? ended(output) : asked(`${output.tokens} tokens of ${output.people} people`),
    flags: { app_key: 'app_key' },
  })
}

interface Ended {
  readonly valid_from: Date | null
}

const asked = (what: string): string => `would end ${what}; repeat with --yes to do it`
const ended = ({ valid_from }: Ended): string => `everything issued before ${readable(valid_from)} is revoked`

import type { Command } from 'commander'
import { z } from 'zod'
import type { ServiceDeps } from '../jobs/index.ts'
import { positiveId } from '../lib/json/fields.ts'
import { makeAesKey, removeAesKey, setAesKey } from '../partners/index.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { details, withAesKey } from './partner-text.ts'
import { readSecret } from './read-secret.ts'

/** What commands about one partner have in common: `gatehouse partner <name> <partner_id> …`. */

export const one = z.strictObject({ partner_id: positiveId })

/** How the arguments are called in messages. */
export const NAMED = { partner_id: 'partner_id', stage: 'stage', role: 'role' }

// In brackets for commander, so that a missing id is reported together with all other problems.
export const withKeyArgument = (partner: Command, name: string, description: string, next?: string): Command => {
  const command = partner.command(name).description(description).argument('[partner_id]')
  if (next) command.argument(`[${next}]`)
  return command.usage(`<partner_id> ${next ? `<${next}> ` : ''}[options]`)
}

export const second = (command: Command): string | undefined => command.args.filter((text) => !text.startsWith('-'))[1]

/** Makes a command do something to the one partner that is named, and nothing else. */
export const runsOnPartner = <Output>(
  command: Command,
  context: CliContext,
  run: (deps: ServiceDeps, partnerId: bigint) => Promise<Output>,
  text: (output: Output) => string,
): Command =>
  defineCommand(command, context, {
    input: one,
    inputFrom: (_, partner_id) => ({ partner_id }),
    run: (deps, { partner_id }) => run(deps, partner_id),
    text,
    flags: NAMED,
  })

/** What bodies are encrypted with; over the admin API below /partners/:partner_id/aes-key. */
export function keyCommands(partner: Command, context: CliContext): void {
  const set = withKeyArgument(partner, 'set-aes-key', 'set the AES key for encrypted bodies; typed or piped in').option(
    '--key-stdin',
    'read the key from standard input instead of asking for it (16 characters, or 32 hex digits)',
  )
  defineCommand(set, context, {
    input: setAesKey.input.extend(one.shape),
    inputFrom: async ({ keyStdin }, partner_id) => ({
      partner_id,
      aes_key: await readSecret(context.terminal, {
        field: 'aes-key',
        question: 'AES key',
        fromInput: keyStdin === true,
        twice: true,
      }),
    }),
    run: (deps, { partner_id, ...key }) => setAesKey(deps, partner_id, key),
    text: details,
    flags: NAMED,
  })
  const make = withKeyArgument(
    partner,
    'make-aes-key',
    'generate a new key that replaces the old one at once; shown once',
  )
  runsOnPartner(make, context, makeAesKey, withAesKey)
  const remove = withKeyArgument(partner, 'remove-aes-key', 'remove the key: bodies are no longer encrypted')
  runsOnPartner(remove, context, removeAesKey, details)
}

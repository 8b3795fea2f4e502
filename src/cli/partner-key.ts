import type { Command } from 'commander'
import { aesKeyInput, makeAesKey, removeAesKey, setAesKey } from '../registry/index.ts'
import type { CliContext } from './context.ts'
import { NAMED, named, one } from './one-partner.ts'
import { runs } from './operation.ts'
import { details, withAesKey } from './partner-text.ts'
import { readSecret } from './read-secret.ts'

/** What bodies are encrypted with; over the admin API below /partners/:partner_id/aes-key. */
export function keyCommands(partner: Command, context: CliContext): void {
  const set = named(partner, 'set-aes-key', 'set the AES key for encrypted bodies; typed or piped in').option(
    '--key-stdin',
    'read the key from standard input instead of asking for it (16 characters, or 32 hex digits)',
  )
  runs(set, context, {
    input: aesKeyInput.extend(one.shape),
    typed: async ({ keyStdin }, partner_id) => ({
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
  const make = named(partner, 'make-aes-key', 'generate a new key that replaces the old one at once; shown once')
  runs(make, context, {
    input: one,
    typed: (_, partner_id) => ({ partner_id }),
    run: (deps, { partner_id }) => makeAesKey(deps, partner_id),
    text: withAesKey,
    flags: NAMED,
  })
  runs(named(partner, 'remove-aes-key', 'remove the key: bodies are no longer encrypted'), context, {
    input: one,
    typed: (_, partner_id) => ({ partner_id }),
    run: (deps, { partner_id }) => removeAesKey(deps, partner_id),
    text: details,
    flags: NAMED,
  })
}

import type { Command } from 'commander'
import { z } from 'zod'
import {
  listSigningKeys,
  retirementInput,
  retireSigningKey,
  rotateSigningKeys,
  rotationInput,
  type SigningKey,
} from '../oidc/index.ts'
import type { CliContext } from './context.ts'
import { defineCommand } from './operation.ts'
import { aligned, readable } from './text.ts'

/** `gatehouse signing-key …`: the keys that sign id_tokens. */
export function signingKeyCommands(program: Command, context: CliContext): void {
  const key = program.command('signing-key').description('keys that sign the id_tokens of OpenID Connect')
  defineCommand(
    key.command('list').description('the keys that are published, or still verify id_token_hints'),
    context,
    {
      input: z.strictObject({}),
      inputFrom: () => ({}),
      run: async (deps) => ({ keys: await listSigningKeys(deps) }),
      text: ({ keys }) => table(keys),
    },
  )
  const rotate = key
    .command('rotate')
    .description('make new keys; they are published at once and sign after SIGNING_KEY_LEAD_S')
    .option('--alg <alg>', 'only RS256 or ES256 (default: both)')
  defineCommand(rotate, context, {
    input: rotationInput,
    inputFrom: ({ alg }) => ({ alg }),
    run: async (deps, input) => ({ keys: await rotateSigningKeys(deps, input) }),
    text: ({ keys }) => table(keys),
  })
  const retire = key
    .command('retire')
    .description('stop signing with a key; it stays published until its last id_token has expired')
    .argument('[kid]')
    .usage('<kid> [options]')
    .option('--at-once', 'it verifies nothing any more: for a leaked key')
  defineCommand(retire, context, {
    input: retirementInput,
    inputFrom: ({ atOnce }, kid) => ({ kid, at_once: atOnce }),
    run: async (deps, input) => ({ keys: await retireSigningKey(deps, input) }),
    text: ({ keys }) => table(keys),
    flags: { kid: 'kid' },
  })
}

function table(keys: readonly SigningKey[]): string {
  if (keys.length === 0) return 'no signing keys yet; the first id_token makes them'
  const rows = keys.map((key) => [
    key.kid,
    key.alg,
    readable(key.signs_from),
    readable(key.signs_until),
    readable(key.published_until),
  ])
  return aligned([['KID', 'ALG', 'SIGNS FROM', 'SIGNS UNTIL', 'PUBLISHED UNTIL'], ...rows])
}

import type { Command } from 'commander'
import { FACTORS } from '../account/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import type { CliContext } from './context.ts'
import { keyed, keyOf } from './field-options.ts'
import { defineCommand } from './operation.ts'
import { readable } from './text.ts'

const { show: showFactors, remove: removeFactors } = FACTORS
type Factors = OutputOf<typeof showFactors>

/** `gatehouse user factors` and `remove-factors`: the second factor of a person. */
export function factorCommands(user: Command, context: CliContext): void {
  const show = user
    .command('factors')
    .description('what a user has besides the password: authenticator, recovery codes, passkeys')
  defineCommand(keyed(show), context, {
    input: showFactors.input,
    inputFrom: keyOf,
    run: showFactors,
    text: whatThereIs,
  })
  const remove = keyed(
    user
      .command('remove-factors')
      .description(
        'remove authenticator, recovery codes and passkeys of a user who has lost them; ends their browser sessions and tells them',
      ),
  )
  defineCommand(remove.option('--reason <text>', 'why; the audit log keeps it'), context, {
    input: removeFactors.input,
    inputFrom: (options) => ({ ...keyOf(options), reason: options.reason }),
    run: removeFactors,
    text: (factors) =>
      factors.totp_since || factors.passkeys > 0 ? `removed:\n${whatThereIs(factors)}` : 'nothing to remove',
  })
}

function whatThereIs({ totp_since, recovery_codes, passkeys }: Factors): string {
  const totp = totp_since && `authenticator since ${readable(totp_since)}, ${recovery_codes} recovery codes left`
  return [totp ?? 'no authenticator', `${passkeys} passkeys`].join('\n')
}

import type { Command } from 'commander'
import { z } from 'zod'
import { checkSecret, type SecretCheck } from '../../platform/lib/crypto/generated-secret.ts'
import type { CliContext } from './context.ts'
import { defineCustomCommand } from './operation.ts'
import { readSecret } from './read-secret.ts'
import { print } from './report.ts'

/**
 * `gatehouse secret check`: whether a secret was copied completely, which no response on the wire reveals. Needs no
 * database.
 */
export function secretCommands(program: Command, { terminal }: CliContext): void {
  const secret = program.command('secret').description('app_secrets and clientSecrets')
  const check = secret.command('check').description('detect a mistyped secret by its checksum; typed or piped in')
  defineCustomCommand(check, { input: z.strictObject({}), inputFrom: () => ({}) }, async (_input, json) => {
    const asked = { field: 'secret', question: 'Secret', fromInput: !terminal.stdin.isTTY }
    const verdict = checkSecret((await readSecret(terminal, asked)) ?? '')
    print(terminal, json, verdict, asText)
    if (verdict.verdict === 'mistyped') terminal.exitCode = 1
  })
}

function asText(check: SecretCheck): string {
  if (check.verdict === 'unknown')
    return 'not a secret of Gatehouse, which begin with ghas_ or ghcs_; it cannot be checked'
  if (check.verdict === 'mistyped')
    return `this ${check.kind} was mistyped or not copied completely: its checksum is wrong`
  return `this ${check.kind} has no typing mistakes; app show and partner show tell whether it is still valid`
}

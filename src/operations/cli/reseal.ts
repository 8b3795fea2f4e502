import type { Command } from 'commander'
import { z } from 'zod'
import { type Resealed, type ResealProgress, resealEverything } from '../reseal/index.ts'
import type { CliContext } from './context.ts'
import { defineMachineCommand } from './operation.ts'
import { progressBar } from './report.ts'
import { readable } from './text.ts'

/** `gatehouse reseal`: the second step of a rotation of SECRET_KEY. */
export function resealCommand(program: Command, context: CliContext): void {
  const command = program
    .command('reseal')
    .description('after SECRET_KEY was replaced everywhere: re-encrypt what was encrypted with SECRET_KEYS_OLD')
  defineMachineCommand(command, context, {
    input: z.strictObject({}),
    inputFrom: () => ({}),
    run: async (deps) => {
      const bar = progressBar(context.terminal.stderr)
      return await resealEverything(deps, ({ seen, total }: ResealProgress) => bar.show(seen, total)).finally(bar.end)
    },
    text,
  })
}

const text = (done: Resealed): string =>
  [
    `values are made with SECRET_KEY since ${readable(done.replaced_at)}`,
    `re-encrypted: ${done.resealed}; already encrypted with it: ${done.sealed_before}`,
    ...unreadable(done.unreadable),
    ...unused(done.unused_secrets),
    `the last token or session of an old key ends ${readable(done.tokens_end_at)}`,
    `SECRET_KEYS_OLD can be emptied after ${readable(done.droppable_at)} without any effect`,
  ].join('\n')

const unreadable = (rows: readonly string[]): string[] =>
  rows.length === 0 ? [] : ['no key decrypts these; set them again:', ...rows.map((row) => `  ${row}`)]

const unused = ({ total, app_keys }: Resealed['unused_secrets']): string[] =>
  total === 0
    ? []
    : [
        `app_secrets still hashed with an old key: ${total}; they are rehashed on next use or rotation:`,
        ...app_keys.map((appKey) => `  ${appKey}`),
        ...(total > app_keys.length ? ['  …'] : []),
      ]

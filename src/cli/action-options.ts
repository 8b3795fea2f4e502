import { type Command, Option } from 'commander'
import { type Field, hintOf, labelOf, pairsOf, type Values } from '../actions/index.ts'
import type { Deps } from '../deps.ts'
import type { Action } from '../lib/action.ts'
import { translator } from '../lib/web/locale.ts'
import type { CliContext } from './context.ts'
import { readSecret } from './read-secret.ts'
import { collect, collectWords, numberIfOne } from './text.ts'

/** The options of an action's fields, and what was typed with them. */

const t = translator('en')

export function addOption(command: Command, action: Action<Deps>, field: Field): void {
  const { name, kind, flag, nullable, required, choices, initially, secret } = field
  const help = [
    hintOf(t, action, name) ?? labelOf(t, action, name),
    ...(choices.length > 0 ? [`: ${choices.join(', ')}`] : []),
    ...(initially === undefined || initially === null || Object(initially) === initially
      ? []
      : [` (default: ${initially})`]),
  ].join('')
  if (secret) {
    command.option(`--${flag}-stdin`, t('command.from_stdin', { field: help }))
    if (action.secretAsOption) command.option(`--${flag} <${flag}>`, t('command.visible'))
    return
  }
  const option = new Option(kind === 'switch' ? `--${flag}` : `--${flag} <${flag.split('-').at(-1)}>`, help)
  if (kind === 'number') option.argParser(numberIfOne)
  if (kind === 'list' || kind === 'pairs') option.argParser(choices.length > 0 ? collectWords : collect)
  command.addOption(option)
  const empties = nullable || kind === 'list' || kind === 'pairs' || kind === 'switch'
  if (empties && !required) command.option(`--no-${flag}`, t('command.without', { field: labelOf(t, action, name) }))
}

export /** `--no-host` is a list without entries, and `--no-logo-url` null. */
function typedValue({ kind, flag }: Field, options: Values): unknown {
  const typed = options[new Option(`--${flag}`).attributeName()]
  if (typed === false && kind !== 'switch') return kind === 'list' ? [] : kind === 'pairs' ? {} : null
  return kind === 'pairs' && Array.isArray(typed) ? pairsOf(typed) : typed
}

/** Secrets are asked for, or read from standard input: what is typed as an option is visible to all who can list processes. */
export async function secretsTyped(
  { terminal }: CliContext,
  { id }: Action,
  fields: readonly Field[],
  options: Values,
): Promise<Values> {
  const typed: Record<string, unknown> = {}
  for (const { name, flag, secret } of fields) {
    if (!secret) continue
    const value = options[new Option(`--${flag}`).attributeName()]
    if (value !== undefined) terminal.stderr.write(`${t('command.was_visible', { flag })}\n`)
    typed[name] =
      value ??
      (await readSecret(terminal, {
        field: flag,
        question: labelOf(t, { id }, name),
        fromInput: options[new Option(`--${flag}-stdin`).attributeName()] === true,
        twice: true,
      }))
  }
  return typed
}

export function addPaging(command: Command): void {
  command
    .option('--limit <number>', 'rows of a page, at most 1000')
    .option('--after <cursor>', 'next page: the `next` value of the previous page')
    .option('--all', 'print every page, one JSON object per line')
}

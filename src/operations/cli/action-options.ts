import { type Command, Option } from 'commander'
import type { z } from 'zod'
import type { Action } from '../../platform/lib/action.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { translator } from '../../platform/lib/web/locale.ts'
import {
  type Field,
  fieldsOf,
  hintOf,
  jsonOrText,
  labelOf,
  numberOrText,
  pairsOf,
  type Values,
} from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import type { CliContext } from './context.ts'
import { readSecret } from './read-secret.ts'
import { collect, collectWords } from './text.ts'

/** Turns an action's fields into options, and the options back into fields. */

const t = translator('en')

export function addOption(command: Command, action: Action<ServiceDeps>, field: Field): void {
  const { name, kind, flag, off, nullable, required, choices, initially, secret } = field
  const about = hintOf(t, action, name) ?? labelOf(t, action, name)
  const help = [
    choices.length > 0 ? `${about.replace(/\.$/, '')}: ${choices.join(', ')}` : about,
    ...(initially === undefined || initially === null || Object(initially) === initially
      ? []
      : [` (default: ${initially})`]),
  ].join('')
  if (secret) {
    command.option(`--${flag}-stdin`, t('command.from_stdin', { field: help }))
    if (action.secretAsOption) command.option(`--${flag} <${flag}>`, t('command.visible'))
    return
  }
  command.addOption(optionOf(field, help))
  if (off) return void command.option(`--${off}`, hintOf(t, action, off))
  const empties = nullable || kind === 'list' || kind === 'pairs' || kind === 'switch'
  if (!empties || required) return
  const without = kind === 'switch' ? 'command.off' : 'command.without'
  command.option(`--no-${flag}`, t(without, { field: labelOf(t, action, name) }))
}

function optionOf({ kind, flag, choices }: Field, help: string): Option {
  const option = new Option(kind === 'switch' ? `--${flag}` : `--${flag} <${flag.split('-').at(-1)}>`, help)
  if (kind === 'number') option.argParser(numberOrText)
  if (kind === 'json') option.argParser(jsonOrText)
  if (kind === 'list' || kind === 'pairs') option.argParser(choices.length > 0 ? collectWords : collect)
  return option
}

/** Adds an option per field for commands without an action; returns how to read them and what messages call them. */
export function addOptions(command: Command, input: z.ZodType) {
  const fields = fieldsOf({ input: input as z.ZodType<object> })
  for (const field of fields) command.addOption(optionOf(field, field.description ?? field.name))
  return {
    typed: (options: Values): Values =>
      Object.fromEntries(fields.map((field) => [field.name, typedValue(field, options)])),
    flags: Object.fromEntries(fields.map(({ name, flag }) => [name, `--${flag}`])),
  }
}

/** `--no-host` gives an empty list, and `--no-logo-url` null. */
export function typedValue({ kind, flag, off }: Field, options: Values): unknown {
  const typed = options[new Option(`--${flag}`).attributeName()]
  if (off && options[new Option(`--${off}`).attributeName()] === true) {
    if (typed === undefined) return false
    throw new InvalidInput([{ field: `--${off}`, problem: `or --${flag}, not both` }])
  }
  if (typed === false && kind !== 'switch') return kind === 'list' ? [] : kind === 'pairs' ? {} : null
  return kind === 'pairs' && Array.isArray(typed) ? pairsOf(typed) : typed
}

/** Prompts for secrets, or reads them from standard input: anybody who can list processes sees arguments. */
export async function secretsTyped(
  { terminal }: CliContext,
  action: Action<ServiceDeps>,
  fields: readonly Field[],
  options: Values,
): Promise<Values> {
  const typed: Record<string, unknown> = {}
  for (const { name, flag } of fields.filter(({ secret }) => secret)) {
    const visible = options[new Option(`--${flag}`).attributeName()]
    if (visible !== undefined) terminal.stderr.write(`${t('command.was_visible', { flag })}\n`)
    const fromInput = options[new Option(`--${flag}-stdin`).attributeName()] === true
    const prompt = { field: flag, question: labelOf(t, action, name), fromInput, twice: true }
    typed[name] = visible ?? (await readSecret(terminal, prompt))
  }
  return typed
}

export function addPaging(command: Command, paging: readonly string[]): void {
  if (paging.includes('limit')) command.option('--limit <number>', 'rows of a page, at most 1000')
  if (!paging.includes('after')) return
  command
    .option('--after <cursor>', 'next page: the `next` value of the previous page')
    .option('--all', 'print every page, one JSON object per line')
    .option('--csv', 'print every page as CSV')
}

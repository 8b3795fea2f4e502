import { once } from 'node:events'
import { type Command, Option } from 'commander'
import { stringify } from 'lossless-json'
import {
  type Field,
  fieldsOf,
  hintOf,
  isPaged,
  isTable,
  labelOf,
  pairsOf,
  rowsIn,
  shownOnce,
  type Values,
} from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { type Action, type Column, cellOf, namesIn, partsOf } from '../lib/action.ts'
import { InvalidInput } from '../lib/json/input.ts'
import { translator } from '../lib/web/locale.ts'
import type { CliContext } from './context.ts'
import { explainedText } from './explain.ts'
import { asTyped, defineCustomCommand, isOption } from './operation.ts'
import { askRemote, streamRemote } from './remote.ts'
import { print } from './report.ts'
import { aligned, collect, collectWords, numberIfOne, printableJson, readable } from './text.ts'

const t = translator('en')

/** The commands of all actions that have one. */
export function actionCommands(program: Command, context: CliContext, actions: readonly Action<ServiceDeps>[]): void {
  for (const action of actions) {
    if (action.command) defineAction(commandOf(program, action.command), context, action)
  }
}

/** Of `partner members list`; the groups that are missing are made. */
function commandOf(program: Command, words: string): Command {
  const names = words.split(' ')
  const last = names.pop() ?? ''
  const group = names.reduce((parent, name, at) => {
    const known = parent.commands.find((one) => one.name() === name)
    const id = names.slice(0, at + 1).join('_')
    return known ?? parent.command(name).description(t(`command.${id.replaceAll('-', '_')}`))
  }, program)
  return group.command(last)
}

function defineAction(command: Command, context: CliContext, action: Action<ServiceDeps>): void {
  const fields = fieldsOf(action)
  const named = action.arguments ?? onlyOne(namesIn(partsOf(action.route).path))
  command.description(t(`action.${action.id}.about`))
  // In brackets for commander, so that a missing one is reported together with all other problems.
  for (const name of named) command.argument(`[${name}]`)
  if (named.length > 0) command.usage(`${named.map((name) => `<${name}>`).join(' ')} [options]`)
  const optional = fields.filter(({ name }) => !named.includes(name))
  for (const field of optional) addOption(command, action, field)
  if (action.previewRole) command.option('--yes', t('command.yes'))
  const pages = action.list && isPaged(action)
  if (pages) addPaging(command)
  const flags = Object.fromEntries(fields.map(({ name, flag }) => [name, named.includes(name) ? name : `--${flag}`]))
  const inputFrom = (options: Values) => ({
    ...Object.fromEntries(optional.map((field) => [field.name, typedValue(field, options)])),
    ...Object.fromEntries(named.map((name, at) => [name, argumentsOf(command)[at]])),
    ...(pages ? { limit: options.limit ?? (options.all ? '1000' : undefined), after: options.after } : {}),
  })
  defineCustomCommand(command, { input: action.input, inputFrom, flags }, async (_input, json, typed) => {
    const isSure = !action.previewRole || command.opts().yes === true
    const carryOut = async (ask: Ask): Promise<void> => {
      if (pages && command.opts().all === true) return printAll(context, action.list.rows, typed, ask)
      const output = await ask(typed).catch((error: unknown) => {
        throw error instanceof InvalidInput ? new InvalidInput(asTyped(error.problems, typed, flags)) : error
      })
      print(context.terminal, json, output, isSure ? textOf(action) : foreseenText)
      if (action.verdict?.(output).tone === 'bad') context.terminal.exitCode = 1
    }
    const { remote } = context
    const { respond } = action
    if (respond) {
      if (remote) return write(context, await streamRemote(remote, { route: action.route, fields: typed }))
      return context.withDeps(async (deps) => write(context, respond(await action.perform(deps, typed), t).parts))
    }
    if (!remote) {
      const perform = isSure ? action.perform : (action.foresee ?? action.perform)
      return context.withDeps((deps) => carryOut(async (given) => asValues(await perform(deps, given))))
    }
    const route = isSure ? action.route : `GET ${partsOf(action.route).path}`
    await carryOut((given) => askRemote<Values>(remote, { route, fields: given }))
  })
}

/** Waits for a reader that is slower. */
async function write({ terminal: { stdout } }: CliContext, parts: AsyncIterable<string | Buffer> | Iterable<string>) {
  for await (const part of parts) if (!stdout.write(part)) await once(stdout, 'drain')
}

type Ask = (given: Values) => Promise<Values>

const asValues = (output: object): Values => ({ ...output })

const onlyOne = (names: readonly string[]): readonly string[] => (names.length === 1 ? names : [])

const argumentsOf = ({ args }: Command): string[] => args.filter((text) => !isOption(text))

function addOption(command: Command, action: Action<ServiceDeps>, field: Field): void {
  const { name, kind, flag, nullable, required, choices, initially } = field
  const help = [
    hintOf(t, action, name) ?? labelOf(t, action, name),
    ...(choices.length > 0 ? [`: ${choices.join(', ')}`] : []),
    ...(initially === undefined || initially === null || Object(initially) === initially
      ? []
      : [` (default: ${initially})`]),
  ].join('')
  const option = new Option(kind === 'switch' ? `--${flag}` : `--${flag} <${flag.split('-').at(-1)}>`, help)
  if (kind === 'number') option.argParser(numberIfOne)
  if (kind === 'list' || kind === 'pairs') option.argParser(choices.length > 0 ? collectWords : collect)
  command.addOption(option)
  const empties = nullable || kind === 'list' || kind === 'pairs' || kind === 'switch'
  if (empties && !required) command.option(`--no-${flag}`, t('command.without', { field: labelOf(t, action, name) }))
}

/** `--no-host` is a list without entries, and `--no-logo-url` null. */
function typedValue({ kind, flag }: Field, options: Values): unknown {
  const typed = options[new Option(`--${flag}`).attributeName()]
  if (typed === false && kind !== 'switch') return kind === 'list' ? [] : kind === 'pairs' ? {} : null
  return kind === 'pairs' && Array.isArray(typed) ? pairsOf(typed) : typed
}

function addPaging(command: Command): void {
  command
    .option('--limit <number>', 'rows of a page, at most 1000')
    .option('--after <cursor>', 'next page: the `next` value of the previous page')
    .option('--all', 'print every page, one JSON object per line')
}

/** Every row of every page, a line of JSON each. */
async function printAll(context: CliContext, rows: string, typed: Values, ask: Ask): Promise<void> {
  for (let given = typed; ; ) {
    const output = await ask(given)
    await write(
      context,
      rowsIn(output, rows).map((row) => `${printableJson(stringify(row) ?? '')}\n`),
    )
    if (typeof output.next !== 'string') return
    given = { ...typed, after: output.next }
  }
}

/** Where the fields of the output, one a line, would not tell it. */
const TEXTS: Readonly<Record<string, (output: Values) => string>> = { explain: explainedText }

const textOf =
  ({ id, list, once: onlyOnce = [] }: Action<ServiceDeps>) =>
  (output: Values): string => {
    const own = TEXTS[id]
    if (own) return own(output)
    if (list) return listText(list.rows, list.columns, output)
    const secrets = shownOnce(onlyOnce, output)
    const kept = Object.entries(output).filter(([name]) => !onlyOnce.includes(name))
    return [
      ...recordText(kept),
      ...(secrets.length > 0
        ? [aligned(secrets.map((name) => [name, readable(output[name])])), t('command.once')]
        : []),
    ].join('\n\n')
  }

/** A field a line, and below them each list of objects as a table. */
function recordText(entries: readonly (readonly [string, unknown])[]): string[] {
  const facts = entries.filter(([, value]) => !isTable(value)).map(([name, value]) => [name, readable(value)])
  const tables = entries.flatMap(([name, value]) => {
    if (!isTable(value)) return []
    const columns = Object.keys(value[0] ?? {})
    const rows = value.map((row) => columns.map((column) => readable(row[column])))
    return [`${name}\n${aligned([columns.map((column) => column.toUpperCase()), ...rows])}`]
  })
  return [aligned(facts), ...tables]
}

const foreseenText = (output: Values): string =>
  `${t('command.would')}\n${aligned(Object.entries(output).map(([name, value]) => [name, readable(value)]))}\n${t('command.repeat')}`

function listText(name: string, all: readonly Column<object>[], output: Values): string {
  const rows = rowsIn(output, name)
  if (rows.length === 0) return `no ${name.replaceAll('_', ' ')}`
  const columns = all.filter(({ onPagesOnly }) => !onPagesOnly)
  const cells = rows.map((row) => columns.map((column) => readable(cellOf(column, row, t))))
  const table = aligned([columns.map(({ name: heading }) => heading.toUpperCase()), ...cells])
  return typeof output.next === 'string' ? `${table}\nmore: --after ${output.next}` : table
}

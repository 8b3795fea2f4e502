import { once } from 'node:events'
import type { Command } from 'commander'
import type { Deps } from '../../platform/deps.ts'
import { type Action, namesIn, partsOf } from '../../platform/lib/action.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { translator } from '../../platform/lib/web/locale.ts'
import { type Field, fieldsOf, linesOf, pagesOf, pagingOf, type Values } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { addOption, addPaging, secretsTyped, typedValue } from './action-options.ts'
import { foreseenText, textOf, warn } from './action-text.ts'
import type { CliContext } from './context.ts'
import { asTyped, defineCommand, wordsOf } from './operation.ts'
import { print } from './report.ts'
import { ask, askForFile } from './request.ts'
import { findService, isElsewhere, NoService } from './service.ts'
import { printableJson, printableLines } from './text.ts'

const t = translator('en')

/** Commands that do more, or something else, than the one request of their action; by the action's id. */
interface Exceptions {
  /** Commands with an implementation of their own. */
  readonly own?: Readonly<Record<string, (command: Command, context: CliContext) => void>>
  /** Commands that read the database directly, unless the address of a service is given. */
  readonly onDatabase?: Readonly<Record<string, OnDatabase>>
  /** Fallbacks for when no service runs on this machine; they return undefined if they cannot help. */
  readonly withoutService?: Readonly<Record<string, OnDatabase>>
}

type OnDatabase = (deps: Deps, input: unknown) => Promise<object | undefined>

export function actionCommands(
  program: Command,
  context: CliContext,
  actions: readonly Action<ServiceDeps>[],
  args: readonly string[] = [],
  exceptions: Exceptions = {},
): void {
  const asked = actions.filter(({ command }) => command?.split(' ').every((word) => args.includes(word)))
  for (const action of actions) {
    if (!action.command) continue
    const command = commandOf(program, action.command).description(t(`action.${action.id}.about`))
    // The options of all take longer to make than most commands to run.
    if (asked.length > 0 && !asked.includes(action)) continue
    command.option('--url <url>', t('command.url'))
    const define = exceptions.own?.[action.id]
    if (define) define(command, context)
    else defineAction(command, context, action, exceptions)
  }
}

/** Adds a command like `partner members list`, and the groups above it that do not exist yet. */
function commandOf(program: Command, words: string): Command {
  const names = words.split(' ')
  const last = names.pop() ?? ''
  const group = names.reduce((parent, name, at) => {
    const known = parent.commands.find((command) => command.name() === name)
    const key = names.slice(0, at + 1).join('_')
    return known ?? parent.command(name).description(t(`command.${key.replaceAll('-', '_')}`))
  }, program)
  return group.command(last)
}

function defineAction(
  command: Command,
  context: CliContext,
  action: Action<ServiceDeps>,
  exceptions: Exceptions,
): void {
  const fields = fieldsOf(action)
  const named = action.arguments ?? onlyOne(namesIn(partsOf(action.route).path))
  // Optional for commander, so that a missing argument is reported together with all other problems.
  for (const name of named) command.argument(`[${name}]`)
  const isNeeded = (name: string): boolean => fields.some((field) => field.name === name && field.required)
  const shown = named.map((name) => (isNeeded(name) ? `<${name}>` : `[${name}]`))
  if (named.length > 0) command.usage(`${shown.join(' ')} [options]`)
  const optional = fields.filter(({ name }) => !named.includes(name))
  for (const field of optional) addOption(command, action, field)
  if (action.previewRole) command.option('--yes', t('command.yes'))
  const paging = action.list ? pagingOf(action) : []
  addPaging(command, paging)
  const flags = Object.fromEntries(fields.map((field) => [field.name, shownName(field, named)]))
  const inputFrom = async (options: Values) => ({
    ...Object.fromEntries(optional.map((field) => [field.name, typedValue(field, options)])),
    ...(await secretsTyped(context, action, optional, options)),
    ...Object.fromEntries(named.map((name, at) => [name, wordsOf(command)[at]])),
    ...(paging.length > 0
      ? { limit: options.limit ?? (options.all || options.csv ? '1000' : undefined), after: options.after }
      : {}),
  })
  defineCommand(command, { input: action.input, inputFrom, flags }, async (_input, json, typed) => {
    const confirmed = !action.previewRole || command.opts().yes === true
    const { all, csv, url } = command.opts()
    if (action.respond) return printFile(context, action, typed, url)
    const perform = await performerOf({ context, action, exceptions, confirmed, url })
    if (all || csv) {
      const pages = pagesOf((page) => perform({ ...typed, ...page }))
      const lines = linesOf(action, csv ? 'csv' : 'ndjson', { t, now: context.clock.now() }, pages)
      return printAll(context, lines, csv === true)
    }
    const output = await perform(typed).catch((error: unknown) => {
      throw error instanceof InvalidInput ? new InvalidInput(asTyped(error.problems, typed, flags)) : error
    })
    warn(context.terminal, action, output)
    print(context.terminal, json, output, confirmed ? textOf(action) : foreseenText(action))
    if (confirmed && action.verdict?.(output)?.tone === 'bad') context.terminal.exitCode = 1
  })
}

interface Call {
  readonly context: CliContext
  readonly action: Action<ServiceDeps>
  readonly exceptions: Exceptions
  /** Do it, instead of saying what would be done. */
  readonly confirmed: boolean
  /** Value of `--url`. */
  readonly url?: string
}

/** How the action is performed: by the service, or on the database. */
async function performerOf(call: Call): Promise<(fields: Values) => Promise<Values>> {
  const { context, action, exceptions, confirmed, url } = call
  const { onDatabase = {}, withoutService = {} } = exceptions
  const [direct, fallback] = isElsewhere(context.terminal, url)
    ? []
    : [onDatabase[action.id], withoutService[action.id]]
  if (direct) return (fields) => context.withDeps(async (deps) => ({ ...(await direct(deps, fields)) }))
  const route = confirmed ? action.route : `GET ${partsOf(action.route).path}`
  const overHttp = async (fields: Values) => ask<Values>(await findService(context, url), { route, fields })
  if (!fallback) return overHttp
  return (fields) =>
    overHttp(fields).catch(async (error: unknown) => {
      const done = error instanceof NoService ? await context.withDeps((deps) => fallback(deps, fields)) : undefined
      if (!done) throw error
      return { ...done }
    })
}

async function printFile(context: CliContext, { route }: Action<ServiceDeps>, fields: Values, url?: string) {
  const { stdout } = context.terminal
  for await (const part of await askForFile(await findService(context, url), { route, fields }))
    if (!stdout.write(part)) await once(stdout, 'drain')
}

/** What messages call a field; a secret has the name of the option that reads it. */
const shownName = ({ name, flag, secret }: Field, named: readonly string[]): string =>
  named.includes(name) ? name : `--${flag}${secret ? '-stdin' : ''}`

const onlyOne = (names: readonly string[]): readonly string[] => (names.length === 1 ? names : [])

/** Waits for a slow reader. CSV goes unchanged to a file or pipe, and without control characters to a terminal. */
async function printAll(
  { terminal: { stdout } }: CliContext,
  lines: AsyncIterable<string>,
  csv: boolean,
): Promise<void> {
  const shown = (line: string): string => {
    if (!csv) return `${printableJson(line.trimEnd())}\n`
    return stdout.isTTY ? `${printableLines(line.replace(/\r\n$/, ''))}\n` : line
  }
  for await (const line of lines) if (!stdout.write(shown(line))) await once(stdout, 'drain')
}

import { once } from 'node:events'
import type { Command } from 'commander'
import { type Action, namesIn, partsOf } from '../../platform/lib/action.ts'
import { systemClock } from '../../platform/lib/clock.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { translator } from '../../platform/lib/web/locale.ts'
import { type Field, fieldsOf, linesOf, pagesOf, pagingOf, type Values } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { addOption, addPaging, secretsTyped, typedValue } from './action-options.ts'
import { foreseenText, textOf, warn } from './action-text.ts'
import type { CliContext } from './context.ts'
import { asTyped, defineCustomCommand, isOption } from './operation.ts'
import { askRemote, streamRemote } from './remote.ts'
import { print, progressBar } from './report.ts'
import { printableJson } from './text.ts'

const t = translator('en')

/** What a command does that does more than one call, by the id of its action. */
export type OwnCommands = Readonly<Record<string, (command: Command, context: CliContext) => void>>

/** The commands of all actions that have one. */
export function actionCommands(
  program: Command,
  context: CliContext,
  actions: readonly Action<ServiceDeps>[],
  own: OwnCommands = {},
): void {
  for (const action of actions) {
    if (!action.command) continue
    const command = commandOf(program, action.command).description(t(`action.${action.id}.about`))
    const define = own[action.id]
    if (define) define(command, context)
    else defineAction(command, context, action)
  }
}

/** Finds a command like `partner members list`; the groups that are missing are made. */
function commandOf(program: Command, words: string): Command {
  const names = words.split(' ')
  const last = names.pop() ?? ''
  const group = names.reduce((parent, name, at) => {
    const known = parent.commands.find((one) => one.name() === name)
    const key = names.slice(0, at + 1).join('_')
    return known ?? parent.command(name).description(t(`command.${key.replaceAll('-', '_')}`))
  }, program)
  return group.command(last)
}

function defineAction(command: Command, context: CliContext, action: Action<ServiceDeps>): void {
  const fields = fieldsOf(action)
  const named = action.arguments ?? onlyOne(namesIn(partsOf(action.route).path))
  // In brackets for commander, so that a missing one is reported together with all other problems.
  for (const name of named) command.argument(`[${name}]`)
  const isNeeded = (name: string): boolean => fields.some((field) => field.name === name && field.required)
  const shown = named.map((name) => (isNeeded(name) ? `<${name}>` : `[${name}]`))
  if (named.length > 0) command.usage(`${shown.join(' ')} [options]`)
  const optional = fields.filter(({ name }) => !named.includes(name))
  for (const field of optional) addOption(command, action, field)
  if (action.previewRole) command.option('--yes', t('command.yes'))
  const paging = action.list ? pagingOf(action) : []
  addPaging(command, paging)
  const flags = Object.fromEntries(fields.map((field) => [field.name, toldAs(field, named)]))
  const inputFrom = async (options: Values) => ({
    ...Object.fromEntries(optional.map((field) => [field.name, typedValue(field, options)])),
    ...(await secretsTyped(context, action, optional, options)),
    ...Object.fromEntries(named.map((name, at) => [name, argumentsOf(command)[at]])),
    ...(paging.length > 0
      ? { limit: options.limit ?? (options.all || options.csv ? '1000' : undefined), after: options.after }
      : {}),
  })
  defineCustomCommand(command, { input: action.input, inputFrom, flags }, async (_input, json, typed) => {
    const isSure = !action.previewRole || command.opts().yes === true
    const carryOut = async (ask: Ask): Promise<void> => {
      const { all, csv } = command.opts()
      if (all || csv) {
        const pages = pagesOf((page) => ask({ ...typed, ...page }))
        return printAll(context, linesOf(action, csv ? 'csv' : 'ndjson', { t, now: systemClock.now() }, pages))
      }
      const output = await ask(typed).catch((error: unknown) => {
        throw error instanceof InvalidInput ? new InvalidInput(asTyped(error.problems, typed, flags)) : error
      })
      warn(context.terminal, action, output)
      print(context.terminal, json, output, isSure ? textOf(action) : foreseenText(action))
      if (isSure && action.verdict?.(output)?.tone === 'bad') context.terminal.exitCode = 1
    }
    const { remote } = context
    if (action.respond) return printFile(context, action, typed)
    if (!remote) {
      const perform = isSure ? action.perform : (action.foresee ?? action.perform)
      const bar = progressBar(context.terminal.stderr)
      return context.withDeps((deps) =>
        carryOut(async (given) => asValues(await perform({ ...deps, progress: bar.show }, given).finally(bar.end))),
      )
    }
    const route = isSure ? action.route : `GET ${partsOf(action.route).path}`
    await carryOut((given) => askRemote<Values>(remote, { route, fields: given }))
  })
}

/** Everything of a file, as it comes. */
async function printFile({ remote, terminal, withDeps }: CliContext, action: Action<ServiceDeps>, fields: Values) {
  const write = async (parts: AsyncIterable<string | Buffer> | Iterable<string>): Promise<void> => {
    for await (const part of parts) if (!terminal.stdout.write(part)) await once(terminal.stdout, 'drain')
  }
  if (remote) return write(await streamRemote(remote, { route: action.route, fields }))
  return withDeps(async (deps) => write(action.respond?.(await action.perform(deps, fields), t).parts ?? []))
}

type Ask = (given: Values) => Promise<Values>

const asValues = (output: object): Values => ({ ...output })

/** What a message calls a field. A secret has an option that reads it, but none of its own. */
const toldAs = ({ name, flag, secret }: Field, named: readonly string[]): string =>
  named.includes(name) ? name : `--${secret ? name.replaceAll('_', '-') : flag}`

const onlyOne = (names: readonly string[]): readonly string[] => (names.length === 1 ? names : [])

const argumentsOf = ({ args }: Command): string[] => args.filter((text) => !isOption(text))

/** Waits for a reader that is slower than the database. */
async function printAll({ terminal }: CliContext, lines: AsyncIterable<string>): Promise<void> {
  for await (const line of lines) {
    if (!terminal.stdout.write(`${printableJson(line.trimEnd())}\n`)) await once(terminal.stdout, 'drain')
  }
}

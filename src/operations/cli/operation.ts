import type { Command } from 'commander'
import type { z } from 'zod'
import { InvalidInput, parseInput } from '../../platform/lib/json/input.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { echo, type Problem } from '../../platform/lib/web/rescode.ts'
import { collect, collectWords } from './text.ts'

type Options = Readonly<Record<string, unknown>>

interface Custom<Input> {
  readonly input: z.ZodType<Input>
  /** Maps options and the first argument to the input's fields; undefined for those not given. */
  readonly inputFrom: (options: Options, argument: string | undefined) => Options | Promise<Options>
  /** A field's name on the command line; by default `refresh_days` is `--refresh-days`. */
  readonly flags?: Readonly<Record<string, string>>
}

/** Gives a command `--json` and an action that validates its input before `act` gets it. */
export function defineCommand<Input>(
  command: Command,
  { input: schema, inputFrom: read, flags = {} }: Custom<Input>,
  act: (input: Input, json: boolean, typed: Options) => Promise<void>,
): Command {
  const times = countOptions(command.option('--json', 'print JSON'))
  return command
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async () => {
      const { json, ...options } = command.opts()
      const typed = defined(await read(options, wordsOf(command)[0]))
      await act(check(command, schema, typed, flags, misreadOptions(command, times)), json === true, typed)
    })
}

const defined = (fields: Options): Options =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Commander lets unknown options through, so that they are reported together with all other problems. */
function check<Input>(
  command: Command,
  schema: z.ZodType<Input>,
  typed: Options,
  flags: Readonly<Record<string, string>>,
  misread: readonly Problem[],
): Input {
  const problems = [...unexpectedWords(command), ...misread, ...asTyped(notUtf8(typed), typed, flags)]
  try {
    const input = parseInput(schema, typed)
    if (problems.length === 0) return input
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    problems.push(...asTyped(error.problems, typed, flags))
  }
  throw new InvalidInput(problems)
}

/** Node decodes arguments and typed input as UTF-8 and replaces invalid bytes by U+FFFD. */
const notUtf8 = (typed: Options): Problem[] =>
  Object.entries(typed)
    .filter(([, value]) => stringifyLossless({ value }).includes('\ufffd'))
    .map(([field]) => ({ field, problem: 'is not valid UTF-8: set the terminal to UTF-8' }))

/** Counts how often each option is given; filled while commander parses the command line. */
function countOptions(command: Command): Map<string, number> {
  const times = new Map<string, number>()
  for (const option of command.options) {
    command.on(`option:${option.name()}`, () => times.set(option.name(), (times.get(option.name()) ?? 0) + 1))
  }
  return times
}

/** What commander accepts silently: an option that swallowed the next one as its value, and one given twice. */
function misreadOptions(command: Command, times: ReadonlyMap<string, number>): Problem[] {
  const known = new Set(command.options.map(({ long }) => long))
  return command.options.flatMap((option) => {
    const value: unknown = command.opts()[option.attributeName()]
    const field = option.long ?? option.flags
    const swallowed = option.required ? [value].flat().find((word) => known.has(String(word))) : undefined
    if (swallowed !== undefined) return [{ field, problem: `needs a value; ${swallowed} is an option` }]
    if (option.required && !Array.isArray(value) && (times.get(option.name()) ?? 0) > 1) {
      return [{ field, problem: 'is given more than once' }]
    }
    return []
  })
}

/** A hyphen alone is an argument that stands for standard input. Anything after `--` is an argument. */
function isOption(command: Command, text: string): boolean {
  const typed = typedWords(command)
  const end = typed.indexOf('--')
  return text.startsWith('-') && text !== '-' && !(end >= 0 && typed.includes(text, end))
}

/** The whole command line; commander's types do not have it. */
const typedWords = (command: Command): readonly string[] =>
  command.parent ? typedWords(command.parent) : (command as unknown as { rawArgs: readonly string[] }).rawArgs

/** The arguments of a command, without options that it does not know. */
export const wordsOf = (command: Command): string[] => command.args.filter((text) => !isOption(command, text))

function unexpectedWords(command: Command): Problem[] {
  const unknown = command.args.filter((text) => isOption(command, text))
  const extra = command.args.slice(command.registeredArguments.length)
  if (unknown.length > 0) return unknown.map((text) => ({ field: echo(text), problem: 'is not an option' }))
  const lists = command.options.some(({ parseArg }) => parseArg === collect || parseArg === collectWords)
  const problem = `is not expected${lists ? '; to give an option several values, repeat it' : ''}`
  return extra.map((text) => ({ field: echo(text), problem }))
}

/** Reports problems of `hosts[1]` or `interface_urls.poi` under `--host` or `--interface-url`, naming the entry. */
export const asTyped = (
  problems: readonly Problem[],
  typed: Options,
  flags: Readonly<Record<string, string>>,
): Problem[] =>
  problems.map(({ field, problem }) => {
    const [, name = field, index, key] = /^(\w+)(?:\[(\d+)\]|\.(.+))$/.exec(field) ?? []
    const list = typed[name]
    const meant = index !== undefined && Array.isArray(list) ? echo(String(list[Number(index)])) : key
    const entry = meant === undefined ? '' : `"${meant}" `
    return { field: flags[name] ?? `--${name.replaceAll('_', '-')}`, problem: entry + problem }
  })

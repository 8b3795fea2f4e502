import { type Command, Option } from 'commander'
import { pairsOf } from '../actions/index.ts'
import type { Fields, RecordField } from '../db/record-fields.ts'
import { collect } from './text.ts'

/** The options of fields that the registry describes, and what was typed with them. */

type Use = 'created' | 'changed'

const fieldsFor = (fields: Fields, use: Use): [string, RecordField][] =>
  Object.entries(fields).filter(([, field]) => field[use] && field.option)

/** `--host` of `--host <host>`. */
const flagOf = ({ option = '' }: RecordField): string => option.split(' ', 1)[0] ?? ''

const READERS: Partial<Record<NonNullable<RecordField['reads']>, (text: string, before: unknown) => unknown>> = {
  pairs: collect,
}

export function withFieldOptions(command: Command, fields: Fields, use: Use): Command {
  for (const [, field] of fieldsFor(fields, use)) {
    const option = new Option(field.option ?? '', field.help)
    const read = field.reads && READERS[field.reads]
    command.addOption(read ? option.argParser(read) : option)
    // A new record has nothing to unset, except a switch, which can be off from the start.
    if (!field.without || (use === 'created' && field.reads !== 'switch')) continue
    command.option(flagOf(field).replace('--', '--no-'), field.without.help)
  }
  return command
}

/** The fields of what was typed; undefined where nothing was. */
export const fieldsFrom = (options: Readonly<Record<string, unknown>>, fields: Fields, use: Use) =>
  Object.fromEntries(
    fieldsFor(fields, use).map(([name, field]) => [
      name,
      givenValue(field, options[new Option(field.option ?? '').attributeName()]),
    ]),
  )

function givenValue({ reads, without }: RecordField, typed: unknown): unknown {
  if (typed === false && reads !== 'switch') return without?.empty
  if (reads !== 'pairs') return typed
  return Array.isArray(typed) ? pairsOf(typed) : undefined
}

/** What the fields are called in messages: `hosts` is `--host`. */
export const flagsOf = (fields: Fields): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, flagOf(field)]))

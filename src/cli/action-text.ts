import { isTable, rowsIn, shownOnce, type Values, withCounts } from '../actions/index.ts'
import type { Deps } from '../deps.ts'
import { type Action, type Column, cellOf } from '../lib/action.ts'
import { systemClock } from '../lib/clock.ts'
import { translator } from '../lib/web/locale.ts'
import { aligned, readable } from './text.ts'

/** The output of an action for a person. */

const t = translator('en')

export const textOf =
  ({ id, list, once: onlyOnce = [] }: Action<Deps>) =>
  (output: Values): string => {
    if (list) return listText(list.rows, list.columns, output)
    const secrets = shownOnce(onlyOnce, output)
    const kept = Object.entries(output).filter(([name]) => !onlyOnce.includes(name))
    const once = Object.entries(output).filter(([name]) => secrets.includes(name))
    return [...recordText(kept), ...(once.length > 0 ? [...recordText(once), ownText(id, 'once')] : [])].join('\n\n')
  }

/** The action's own text, else the one that all share. */
const ownText = (id: string, what: keyof typeof SHARED): string =>
  t(t.has(`action.${id}.${what}`) ? `action.${id}.${what}` : SHARED[what])

const SHARED = { once: 'command.once', would: 'command.would' } as const

/** A field a line, and below them each list of objects as a table. */
function recordText(entries: readonly (readonly [string, unknown])[]): string[] {
  const facts = withCounts(entries.filter(([, value]) => !isTable(value)))
  const tables = entries.flatMap(([name, value]) => {
    if (!isTable(value)) return []
    const columns = Object.keys(value[0] ?? {})
    const rows = value.map((row) => columns.map((column) => readable(row[column])))
    return [`${name}\n${aligned([columns.map((column) => column.toUpperCase()), ...rows])}`]
  })
  return [factsText(facts), ...tables]
}

const factsText = (facts: readonly { readonly name: string; readonly value: unknown }[]): string =>
  aligned(facts.map(({ name, value }) => [name, readable(value)]))

export const foreseenText =
  ({ id }: Action<Deps>) =>
  (output: Values): string =>
    `${ownText(id, 'would')}\n${factsText(withCounts(Object.entries(output)))}\n${t('command.repeat')}`

function listText(name: string, columns: readonly Column<object>[], output: Values): string {
  const rows = rowsIn(output, name)
  if (rows.length === 0) return `no ${name.replaceAll('_', ' ')}`
  const cells = rows.map((row) => columns.map((column) => readable(cellOf(column, row, systemClock.now()))))
  const table = aligned([columns.map(({ name: heading }) => heading.toUpperCase()), ...cells])
  return typeof output.next === 'string' ? `${table}\nmore: --after ${output.next}` : table
}

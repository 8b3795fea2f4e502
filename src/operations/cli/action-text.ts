import { type Action, type Column, cellOf } from '../../platform/lib/action.ts'
import { systemClock } from '../../platform/lib/clock.ts'
import { translator } from '../../platform/lib/web/locale.ts'
import { rowsIn, shownOnce, tableOf, type Values, withCounts } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import type { Terminal } from './terminal.ts'
import { aligned, printable, readable } from './text.ts'
import { ownText } from './texts.ts'

/** The output of an action for a person. */

const t = translator('en')

export const textOf =
  ({ id, list, once: onlyOnce = [] }: Action<ServiceDeps>) =>
  (output: Values): string => {
    const own = ownText(id)
    if (own) return [own(output), ...onceText(id, output, onlyOnce)].join('\n\n')
    if (list) return listText(list.rows, list.columns, output)
    const kept = Object.entries(output).filter(([name]) => !onlyOnce.includes(name))
    return [...recordText(kept), ...onceText(id, output, onlyOnce)].join('\n\n')
  }

function onceText(id: string, output: Values, onlyOnce: readonly string[]): string[] {
  const once = shownOnce(onlyOnce, output)
  return once.length > 0 ? [...recordText(once.map((name) => [name, output[name]])), sharedText(id, 'once')] : []
}

const SHARED = { once: 'command.once', would: 'command.would' } as const

/** The action's own text, else the one that all share. */
const sharedText = (id: string, what: keyof typeof SHARED): string =>
  t(t.has(`action.${id}.${what}`) ? `action.${id}.${what}` : SHARED[what])

/** On standard error, so that what is printed stays as it is for programs. */
export function warn({ stderr }: Terminal, { warnings }: Action<ServiceDeps>, output: Values): void {
  for (const { field, problem } of warnings?.of(output) ?? [])
    stderr.write(`warning: ${printable(`${field} ${problem}`)}\n`)
}

/** A field a line, and below them each list of objects as a table. */
function recordText(entries: readonly (readonly [string, unknown])[]): string[] {
  const facts = withCounts(entries.filter(([, value]) => !tableOf(value)))
  const tables = entries.flatMap(([name, value]) => {
    const table = tableOf(value)
    if (!table) return []
    const columns = Object.keys(table[0] ?? {})
    const rows = table.map((row) => columns.map((column) => readable(row[column])))
    return [`${name}\n${aligned([columns.map((column) => column.toUpperCase()), ...rows])}`]
  })
  return [...(facts.length > 0 ? [factsText(facts)] : []), ...tables]
}

const factsText = (facts: readonly { readonly name: string; readonly value: unknown }[]): string =>
  aligned(facts.map(({ name, value }) => [name, readable(value)]))

export const foreseenText =
  ({ id }: Action<ServiceDeps>) =>
  (output: Values): string =>
    `${sharedText(id, 'would')}\n${factsText(withCounts(Object.entries(output)))}\n${t('command.repeat')}`

function listText(name: string, all: readonly Column<object>[], output: Values): string {
  const rows = rowsIn(output, name)
  if (rows.length === 0) return `no ${name.replaceAll('_', ' ')}`
  const columns = all.filter(({ onPagesOnly }) => !onPagesOnly)
  const cells = rows.map((row) => columns.map((column) => readable(cellOf(column, row, t, systemClock.now()))))
  const table = aligned([columns.map(({ name: heading }) => heading.toUpperCase()), ...cells])
  return typeof output.next === 'string' ? `${table}\nmore: --after ${output.next}` : table
}

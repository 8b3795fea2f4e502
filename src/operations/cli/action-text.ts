import { type Action, cellOf } from '../../platform/lib/action.ts'
import { systemClock } from '../../platform/lib/clock.ts'
import { prettyLossless } from '../../platform/lib/json/lossless.ts'
import { translator } from '../../platform/lib/web/locale.ts'
import { columnsOn, recordIn, rowsIn, shownOf, shownOnce, type Values } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import type { Terminal } from './terminal.ts'
import { aligned, printable, readable } from './text.ts'

/** Prints an action's output for a person to read. */

const t = translator('en')

type ServiceAction = Action<ServiceDeps>
type Columns = NonNullable<ServiceAction['list']>['columns']

const here = () => ({ on: 'terminal', t, now: systemClock.now() }) as const

export const textOf =
  (action: ServiceAction) =>
  (output: Values): string => {
    const { id, list, record: name, once: onlyOnce = [] } = action
    if (list) return listText(action, list, output)
    const [record, beside] = recordIn(name, output)
    const verdict = action.verdict?.(output)
    const details = action.told && { ...action.told(output) }
    const once = shownOnce(onlyOnce, output)
    const kept = Object.entries({ ...(details && !name ? {} : record), ...(details ? {} : beside) })
    const next = action.next?.(output)
    return [
      ...recordText(action, Object.fromEntries(kept.filter(([field]) => !onlyOnce.includes(field)))),
      ...(verdict ? [t(verdict.text), ...(details ? recordText(action, details) : [])] : []),
      ...(once.length > 0
        ? [
            ...recordText(action, Object.fromEntries(once.map((field) => [field, output[field]]))),
            sharedText(id, 'once'),
          ]
        : []),
      ...(next === undefined ? [] : [next]),
    ].join('\n\n')
  }

const SHARED = { once: 'command.once', would: 'command.would' } as const

/** The action's own text, else the shared one. */
const sharedText = (id: string, what: keyof typeof SHARED): string =>
  t(t.has(`action.${id}.${what}`) ? `action.${id}.${what}` : SHARED[what])

/** On standard error: programs read standard output. */
export function warn({ stderr }: Terminal, { warnings }: ServiceAction, output: Values): void {
  for (const { field, problem } of warnings?.of(output) ?? [])
    stderr.write(`warning: ${printable(`${field} ${problem}`)}\n`)
}

/** One fact per line, followed by lists of objects as tables and by multi-line texts. */
function recordText(action: Pick<ServiceAction, 'parts'>, values: Values): string[] {
  const { facts, tables, texts } = shownOf(action, values, here())
  const lines = facts.map(({ name, value, in: group }) => {
    const isEntry = group !== undefined && action.parts?.[group] !== undefined
    return [isEntry ? `${group} ${name}` : name, readable(value)]
  })
  return [
    ...(lines.length > 0 ? [aligned(lines)] : []),
    ...tables.map(({ name, columns, rows, of }) => `${heading(name, of)}\n${tableText(columns, rows)}`),
    ...texts.map(([name, value]) => `${name}\n${typeof value === 'string' ? value : prettyLossless(value)}`),
  ]
}

const heading = (name: string, of: string | undefined): string =>
  of === undefined ? name : printable(`${name} of ${of}`)

function tableText(columns: Columns, rows: readonly Values[]): string {
  const { now } = here()
  const cells = rows.map((row) => columns.map((column) => readable(cellOf(column, row, t, now))))
  return aligned([columns.map(({ name }) => name.toUpperCase()), ...cells])
}

export const foreseenText =
  ({ id }: ServiceAction) =>
  (output: Values): string =>
    [sharedText(id, 'would'), ...recordText({}, output), t('command.repeat')].join('\n')

function listText(
  { cut }: ServiceAction,
  { rows: name, columns }: NonNullable<ServiceAction['list']>,
  output: Values,
): string {
  const rows = rowsIn(output, name)
  if (rows.length === 0) return `no ${name.replaceAll('_', ' ')}`
  const table = tableText(columnsOn('terminal', columns), rows)
  const left = cut?.(output)
  return [
    table,
    ...(left === undefined ? [] : [t(left)]),
    ...(typeof output.next === 'string' ? [`more: --after ${output.next}`] : []),
  ].join('\n')
}

import type { Verdict } from '../../platform/lib/action.ts'
import { shownProblems } from '../../platform/lib/web/worded.ts'
import { labelOf, nameOfFact, shownOnce, tableRows, type Values, withCounts } from '../actions/index.ts'
import { cellFor } from './action-values.ts'
import type { Cell, OneTimeResult, PageContext } from './page-model.ts'
import type { Placed, Places } from './placed.ts'
import { partsWithChanges } from './record-parts.ts'
import { code, count, text } from './texts.ts'

/** The page after a change, for what no later page shows: new secrets, a receipt, warnings, a verdict. */
export function resultOf(
  places: Places,
  change: Placed,
  output: Values,
  context: PageContext,
): OneTimeResult | undefined {
  const { t } = context
  const once = change.method === 'GET' ? Object.keys(output) : shownOnce(change.once, output)
  const warnings = change.warnings?.of(output) ?? []
  const verdict = change.verdict?.(output)
  if (once.length + warnings.length === 0) return verdict && verdictOf(places, change, output, verdict, context)
  const own = `action.${change.id}.once`
  return {
    ...(change.after ? { tone: 'good' as const } : {}),
    ...(verdict ? { tone: verdict.tone } : {}),
    note: t(verdict?.text ?? (once.length === 0 ? 'console.warned' : t.has(own) ? own : 'console.once.note')),
    values: [
      ...shownProblems(warnings, t, (name) => labelOf(t, change, name)).map(({ label, problem }) => ({
        name: label,
        cells: [text(problem)],
      })),
      ...withCounts([...(once.length > 0 ? (change.onceWith ?? []) : []), ...once].map((name) => [name, output[name]]))
        .filter(({ value }) => value !== 0)
        .map((fact) => ({
          name: nameOfFact({ id: change.id }, fact, t),
          cells: cellsOf(fact.name, fact.value, change, context),
        })),
    ],
  }
}

function verdictOf(
  places: Places,
  change: Placed,
  output: Values,
  { tone, text: key }: Verdict,
  context: PageContext,
): OneTimeResult {
  const { facts, tables } = partsWithChanges(places, change, { ...(change.told?.(output) ?? output) }, context)
  return { tone, note: context.t(key), values: facts, tables }
}

function cellsOf(name: string, value: unknown, change: Placed, { t }: PageContext): Cell[] {
  const table = tableRows(value)
  if (table) {
    return table.map((row) => {
      const key = `field.${name}.${String(Object.values(row)[0]).replaceAll(/[ -]/g, '_')}`
      return t.has(key) ? text(t(key)) : { text: Object.values(row).join(': '), isEnglish: true }
    })
  }
  if (typeof value === 'string' && [...(change.onceWith ?? []), ...(change.once ?? [])].includes(name))
    return [code(value)] // no link: who follows it loses the page
  return [typeof value === 'number' && !change.about.includes(name) ? text(count(value)) : cellFor(name, value, t)]
}

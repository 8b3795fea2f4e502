import { problemDetail } from './json/problem-detail.ts'
import { type Detail, localized } from './localized-text.ts'
import { REASONS, type ReasonId } from './reasons.ts'

/** What may stand for a name in a clause, where not anything may. */
const CLASSES: Readonly<Record<string, string>> = {
  field: '[\\w.[\\]-]+',
  code: '-?\\d+',
  count: '\\d+',
  seconds: '[\\d.]+',
  line: '\\d+',
  column: '\\d+',
  /** A system's own name for a failure: `connect (ECONNREFUSED)`. */
  cause: '[a-z-]+(?: \\([^()]*\\))?',
}

/** Values that are clauses themselves. */
const NESTED = ['problem', 'rest', 'whose', 'wanted']

const patternOf = (template: string): RegExp => {
  const [literal, named] = [/[.*+?^${}()|[\]\\]/g, /\{(\w+)\}/]
  const parts = template.split(named)
  const source = parts.map((part, at) =>
    at % 2 === 0 ? part.replace(literal, '\\$&') : `(?<${part}>${CLASSES[part] ?? '.+?'})`,
  )
  return new RegExp(`^${source.join('')}$`, 's')
}

const PATTERNS = (Object.entries(REASONS) as [ReasonId, string][]).map(([id, template]) => ({
  id,
  pattern: patternOf(template),
  /** It begins with another clause, so it is one only if that one is known. */
  goesOn: template.includes('{problem}') && /^\{(?:problem|field)\}/.test(template),
}))

/** Longer texts stay as they are. */
const LONGEST = 2_000

interface Clause {
  readonly id: ReasonId
  /** Values by their names, as they stand in the clause. */
  readonly values: readonly (readonly [name: string, value: string])[]
}

/** The clause of REASONS that this is; undefined for one that is not known. */
export function clauseOf(reason: string): Clause | undefined {
  if (reason.length > LONGEST) return undefined
  let partly: Clause | undefined
  for (const { id, pattern, goesOn } of PATTERNS) {
    const found = pattern.exec(reason)
    if (!found) continue
    const { problem } = found.groups ?? {}
    const clause = { id, values: Object.entries(found.groups ?? {}) }
    if (problem === undefined || isKnown(problem)) return clause
    // Another clause may say all of it.
    if (!goesOn) partly ??= clause
  }
  return partly
}

const isKnown = (reason: string): boolean => typeof problemDetail(reason) !== 'string' || clauseOf(reason) !== undefined

/** Whether the value of this name is a clause itself. */
export const isNested = (name: string): boolean => NESTED.includes(name)

/**
 * Why the platform has refused a call, or why a call failed, as a detail to be worded for its reader. A clause that is not
 * known stays as it is.
 */
export function reasonDetail(reason: string): Detail {
  if (reason.length > LONGEST) return reason
  const problem = problemDetail(reason)
  if (typeof problem !== 'string') return problem
  const clause = clauseOf(reason)
  if (!clause) return reason
  const values = clause.values.map(([name, value]): [string, Detail] => [
    name,
    isNested(name) ? reasonDetail(value) : value,
  ])
  return localized(clause.id, Object.fromEntries(values))
}

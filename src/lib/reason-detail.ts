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

/**
 * Why the platform has refused a call, or why a call failed, as a detail to be worded for its reader. A clause that is not
 * known stays as it is.
 */
export function reasonDetail(reason: string): Detail {
  if (reason.length > LONGEST) return reason
  const problem = problemDetail(reason)
  if (typeof problem !== 'string') return problem
  for (const { id, pattern, goesOn } of PATTERNS) {
    const found = pattern.exec(reason)
    if (!found) continue
    const values = Object.entries(found.groups ?? {}).map(([name, value]): [string, Detail] => [
      name,
      NESTED.includes(name) ? reasonDetail(value) : value,
    ])
    const detail = localized(id, Object.fromEntries(values))
    if (!goesOn || typeof detail.values.problem !== 'string') return detail
  }
  return reason
}

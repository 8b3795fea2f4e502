import type { z } from 'zod'
import { MOST_PROBLEMS } from './lists.ts'

/** One thing wrong with a JSON value: where (`body.voucherList[2].status`) and what. */
export interface ShapeProblem {
  readonly path: string
  readonly problem: string
}

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '')

/**
 * Checks a value against a schema; problems come each with its path, in words for the partner's engineer. In a list,
 * only one more is looked for than are reported (lists.ts).
 */
export function readShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { value: z.output<Schema> } | { problems: ShapeProblem[] } {
  const parsed = schema.safeParse(value, { error: describeIssue, reportInput: true })
  if (parsed.success) return { value: parsed.data }
  return {
    problems: parsed.error.issues.map((issue) => ({
      path: pathText(issue.path),
      problem: 'input' in issue && issue.input === undefined ? 'is required' : issue.message,
    })),
  }
}

/** Plain words for the issues to which the schema gave no message of its own. */
function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected === 'array' || issue.expected === 'object' ? 'an' : 'a'} ${issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.map((allowed) => JSON.stringify(allowed)).join(', ')}`
    default:
      return undefined
  }
}

/** `body.quantity is required; body.orderId must be …`, at most five of them, and whether there are more. */
export function problemsText(problems: readonly ShapeProblem[]): string {
  const shown = problems.slice(0, MOST_PROBLEMS).map(({ path, problem }) => `${path || 'the JSON value'} ${problem}`)
  return [...shown, ...(problems.length > shown.length ? ['and more'] : [])].join('; ')
}

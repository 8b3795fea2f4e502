import type { z } from 'zod'
import { LIST_LIMITS, MAX_PROBLEMS, readShape, type ShapeProblem } from '../../platform/lib/json/shape.ts'
import { echo } from '../../platform/lib/web/rescode.ts'
import { jsonFields, saysSuccess } from '../interfaces/index.ts'
import type { CallProblem, CallResult } from '../partner-calls/index.ts'
import type { Entry } from './product-store.ts'

/** A problem of one entry of a list, by its day or product, else its position, and the field's path. */
export interface EntryProblem extends ShapeProblem {
  readonly entry: string
}

export interface Entries<Parsed> {
  readonly good: readonly { readonly parsed: Parsed; readonly raw: Entry }[]
  readonly problems: readonly EntryProblem[]
}

/**
 * After this many problems the rest of the list is not read: the whole list is wrong then, and every invalid entry
 * costs time. A page of fifty products in each of which everything is missing has a thousand.
 */
export const MAX_ENTRY_PROBLEMS = 1_000

/** The answer of an interface whose `body` is a list. */
type ListAnswer = z.ZodObject<{ readonly body: z.ZodArray }>
type EntryOf<Answer extends ListAnswer> = z.output<Answer['shape']['body']['element']>

export interface ListRead<Answer extends ListAnswer> extends Entries<EntryOf<Answer>> {
  /** The other fields, the list empty; undefined if one is invalid, or for "will follow". */
  readonly fields: z.output<Answer> | undefined
  /** Entries received, valid or not. */
  readonly received: number
}

/**
 * The entries of an answer that is a list. One that does not match the interface's schema is reported field by field
 * and does not affect the others; so are invalid fields beside the list. A failure if the partner does not report
 * success, sends no list, or sends one that is too long: a failure is never treated as an empty list.
 */
export function readEntries<Answer extends ListAnswer>(
  result: CallResult<z.output<Answer>>,
  answer: Answer,
  name: 'products' | 'prices',
): ListRead<Answer> | CallProblem {
  if (result.outcome === 'pending') return { fields: undefined, received: 0, good: [], problems: [] }
  const { body } = jsonFields(result.json)
  const list: readonly unknown[] | undefined = Array.isArray(body) ? body : undefined
  if (result.outcome === 'success') {
    const fields = result.answer
    // A type of any interface: the compiler does not see whose entries these are.
    const parsed = fields.body as readonly EntryOf<Answer>[]
    const good = parsed.map((entry, index) => ({ parsed: entry, raw: jsonFields(list?.[index]) }))
    return { fields, received: good.length, good, problems: [] }
  }
  const { kind, problems: found = [] } = result.failure
  if (kind !== 'schema' || !saysSuccess(result.json) || !list || list.length > LIST_LIMITS[name].most) {
    return result.failure
  }
  const problems: EntryProblem[] = found
    .filter(({ path }) => !path.startsWith('body['))
    .map((problem) => ({ ...problem, entry: WHOLE }))
  const fields = readShape(answer, { ...jsonFields(result.json), body: [] })
  const good: { parsed: EntryOf<Answer>; raw: Entry }[] = []
  for (const [index, raw] of list.entries()) {
    const shape = readShape(answer.shape.body.element as z.ZodType<EntryOf<Answer>>, raw)
    if ('value' in shape) good.push({ raw: jsonFields(raw), parsed: shape.value })
    else for (const problem of shape.problems) problems.push({ ...problem, entry: nameOf(raw, index) })
    if (problems.length >= MAX_ENTRY_PROBLEMS) break
  }
  return { fields: 'value' in fields ? fields.value : undefined, received: list.length, good, problems }
}

/** The path of a problem that is not about an entry. */
export const WHOLE = 'the answer'

const nameOf = (raw: unknown, index: number): string => {
  const { date, priceDate, partnerDealId } = jsonFields(raw)
  const name = date ?? priceDate ?? partnerDealId
  return typeof name === 'string' || typeof name === 'number' ? echo(String(name)) : `[${index}]`
}

/** `d-1: title is required; …`, at most five of them, and whether there are more. */
export function entryProblemsText(problems: readonly EntryProblem[]): string {
  const shown = problems.slice(0, MAX_PROBLEMS).map(({ entry, path, problem }) => `${entry}: ${path} ${problem}`.trim())
  return [...shown, ...(problems.length > shown.length ? ['and more'] : [])].join('; ')
}

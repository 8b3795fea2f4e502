import type { z } from 'zod'
import { filledText } from '../../platform/lib/json/fields.ts'
import { LIST_LIMITS, MAX_PROBLEMS, readShape, type ShapeProblem } from '../../platform/lib/json/shape.ts'
import { echo } from '../../platform/lib/web/rescode.ts'
import { jsonFields, saysSuccess } from '../interfaces/index.ts'
import type { CallProblem, CallResult } from '../partner-calls/index.ts'
import type { Entry } from './product-store.ts'

/** A problem with one entry of a list. The entry is named by its day or product, else by its position. */
export interface EntryProblem extends ShapeProblem {
  readonly entry: string
}

export interface Entries<Parsed> {
  readonly good: readonly { readonly parsed: Parsed; readonly raw: Entry }[]
  readonly problems: readonly EntryProblem[]
}

/**
 * Reading stops after this many problems: each invalid entry takes time, and such a list is wrong as a whole. A page of
 * fifty products without any of their fields has a thousand.
 */
export const MAX_ENTRY_PROBLEMS = 1_000

type ListAnswer = z.ZodObject<{ readonly body: z.ZodArray }>
type EntryOf<Answer extends ListAnswer> = z.output<Answer['shape']['body']['element']>

export interface ListRead<Answer extends ListAnswer> extends Entries<EntryOf<Answer>> {
  /** The answer with an empty list; undefined if a field beside the list is invalid, or for "will follow". */
  readonly fields: z.output<Answer> | undefined
  /** Entries received, valid or not. */
  readonly received: number
}

/**
 * Reads the entries of an answer that is a list. Invalid entries, and invalid fields beside the list, are reported
 * field by field and do not affect the valid entries. Returns the failure if the partner does not report success, sends
 * no list or one that is too long: a failure is never treated as an empty list.
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
    // The compiler cannot relate the answer's type to its entries.
    const parsed = fields.body as readonly EntryOf<Answer>[]
    const good = parsed.map((entry, index) => ({ parsed: entry, raw: jsonFields(list?.[index]) }))
    return { fields, received: good.length, good, problems: [] }
  }
  const { kind, problems: found = [] } = result.failure
  if (kind !== 'schema' || !saysSuccess(result.json) || !list || list.length > LIST_LIMITS[name]) {
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

/** Stands in for the entry in a problem that is not about one. */
export const WHOLE = 'the answer'

const nameOf = (raw: unknown, index: number): string => {
  const { date, priceDate, partnerDealId } = jsonFields(raw)
  const name = filledText(date ?? priceDate ?? partnerDealId)
  return name === undefined ? `[${index}]` : echo(name)
}

/** `d-1: title is required; …`: the first five problems, and whether there are more. */
export function entryProblemsText(problems: readonly EntryProblem[]): string {
  const shown = problems.slice(0, MAX_PROBLEMS).map(({ entry, path, problem }) => `${entry}: ${path} ${problem}`.trim())
  return [...shown, ...(problems.length > shown.length ? ['and more'] : [])].join('; ')
}

import type { z } from 'zod'
import { echo } from '../lib/rescode.ts'
import { readShape, type ShapeProblem } from '../lib/shape.ts'
import type { CallResult, Failure } from './call-result.ts'
import type { Entry } from './product-store.ts'

/** One thing wrong with one entry of a list: the entry by its day or product, else by its place, and the field's path. */
export interface EntryProblem extends ShapeProblem {
  readonly entry: string
}

export interface Entries<Parsed> {
  readonly good: readonly { readonly parsed: Parsed; readonly raw: Entry }[]
  readonly problems: readonly EntryProblem[]
}

/**
 * The entries of an answer that is a list. One that does not fit the interface's schema is reported field by field, and
 * costs no other. A failure only when there is no list to read.
 */
export function readEntries<Schema extends z.ZodType>(
  result: CallResult<unknown>,
  schema: Schema,
): Entries<z.output<Schema>> | Failure {
  if (result.outcome === 'pending') return { good: [], problems: [] }
  const list = (result.json as { body?: unknown } | null | undefined)?.body
  const misshapen = result.outcome === 'failed' && result.failure.kind === 'schema'
  if (result.outcome === 'failed' && !(misshapen && Array.isArray(list))) return result.failure
  const read = (list as Entry[]).map((raw, place) => ({ raw, place, shape: readShape(schema, raw) }))
  return {
    good: read.flatMap(({ raw, shape }) => ('value' in shape ? [{ raw, parsed: shape.value }] : [])),
    problems: read.flatMap(({ raw, place, shape }) =>
      'problems' in shape ? shape.problems.map((problem) => ({ ...problem, entry: nameOf(raw, place) })) : [],
    ),
  }
}

const nameOf = (raw: Entry | null, place: number): string => {
  const name = raw?.date ?? raw?.priceDate ?? raw?.partnerDealId
  return typeof name === 'string' || typeof name === 'number' ? echo(String(name)) : `[${place}]`
}

/** `d-1: title is required; …`, at most five of them. */
export function entryProblemsText(problems: readonly EntryProblem[]): string {
  const shown = problems.slice(0, 5).map(({ entry, path, problem }) => `${entry}: ${path} ${problem}`.trim())
  const more = problems.length - shown.length
  return shown.join('; ') + (more > 0 ? `; and ${more} more` : '')
}

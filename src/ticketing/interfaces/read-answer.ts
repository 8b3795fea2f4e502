import { z } from 'zod'
import { smallInt } from '../../lib/lossless.ts'
import { readShape, type ShapeProblem } from '../../lib/shape.ts'
import { maybe } from './fields.ts'
import { type PartnerInterface, SUCCESS } from './interface.ts'

const envelope = z.looseObject({ code: smallInt(), describe: maybe(z.string()) })

/** What a partner's answer says: done, not yet, no, or nothing that can be understood. */
export type Reading<Answer> =
  | { readonly outcome: 'success'; readonly answer: Answer }
  | {
      readonly outcome: 'pending' | 'failed'
      readonly code: number
      readonly meaning: string
      readonly describe: string
    }
  | { readonly outcome: 'misshapen'; readonly problems: readonly ShapeProblem[] }

const BY_HUNDREDS: Readonly<Record<number, string>> = {
  2: 'price error',
  3: 'query error',
  4: 'create error',
  5: 'pay error',
  6: 'refund error',
}

const meaningOf = (entry: PartnerInterface, code: number): string =>
  entry.failures[code] ?? BY_HUNDREDS[Math.floor(code / 100)] ?? 'unknown error'

/**
 * Fields of an interface stand in `body` (as partners in the field send them) or beside code and describe (source,
 * "Response envelope of area B"): without a body the envelope is taken for it.
 */
function withBody(answer: Record<string, unknown>): Record<string, unknown> {
  const { body } = answer
  return body === undefined || body === null ? { ...answer, body: answer } : answer
}

/** Reads the JSON of an answer (from parseLossless) by the interface that was called. */
export function readAnswer<Entry extends PartnerInterface>(
  entry: Entry,
  json: unknown,
): Reading<z.output<Entry['answer']>> {
  const enveloped = readShape(envelope, json)
  if ('problems' in enveloped) return { outcome: 'misshapen', problems: enveloped.problems }
  const { code, describe = '' } = enveloped.value
  const pending = entry.pending[code]
  if (pending !== undefined) return { outcome: 'pending', code, meaning: pending, describe }
  if (code !== SUCCESS) return { outcome: 'failed', code, meaning: meaningOf(entry, code), describe }
  const read = readShape(entry.answer, withBody(json as Record<string, unknown>))
  if ('problems' in read) return { outcome: 'misshapen', problems: read.problems }
  return { outcome: 'success', answer: read.value as z.output<Entry['answer']> }
}

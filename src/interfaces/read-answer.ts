import { z } from 'zod'
import { maybe } from '../lib/json/fields.ts'
import { smallInt } from '../lib/json/lossless.ts'
import { readShape, type ShapeProblem } from '../lib/json/shape.ts'
import { type PartnerInterface, SUCCESS } from './interface.ts'

const coded = z.looseObject({ code: smallInt() })
const envelope = coded.extend({ describe: maybe(z.string()) })

/** The meaning of a partner's response: done, pending, refused, or invalid. */
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

/** Texts that carry no information; some programs respond with code 200 and "BA验证错误". */
const NOTHING_TO_ADD = ['', 'success', 'ok', '成功']

/** The describe text of a response, if it carries information; otherwise undefined. */
export function remarkIn(json: unknown): string | undefined {
  const { describe } = (json ?? {}) as { readonly describe?: unknown }
  return typeof describe === 'string' && !NOTHING_TO_ADD.includes(describe.trim().toLowerCase()) ? describe : undefined
}

/**
 * Fields of an interface stand in `body` (as partners in the field send them) or beside code and describe (DECISIONS
 * "Endpoints of area B"): without a body the envelope is taken for it. A list has to be there, or may be left
 * out where there is nothing in it and the partner has no other reason.
 */
function withBody(entry: PartnerInterface, answer: Record<string, unknown>): Record<string, unknown> {
  const { body } = answer
  if (body !== undefined && body !== null) return answer
  const { body: expected } = entry.answer.shape
  if (!(expected instanceof z.ZodArray)) return { ...answer, body: answer }
  return entry.listMayBeMissing && remarkIn(answer) === undefined
    ? { ...answer, body: [] }
    : { ...answer, body: undefined }
}

/** Whether the partner says that it has done what was asked, whatever else may be wrong with its answer. */
export function saysSuccess(json: unknown): boolean {
  const read = readShape(coded, json)
  return 'value' in read && read.value.code === SUCCESS
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
  const read = readShape(entry.answer, withBody(entry, json as Record<string, unknown>))
  if ('problems' in read) return { outcome: 'misshapen', problems: read.problems }
  return { outcome: 'success', answer: read.value as z.output<Entry['answer']> }
}

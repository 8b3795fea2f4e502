import { z } from 'zod'
import { jsonIn } from './json/lossless.ts'
import { type Detail, withValues } from './localized-text.ts'

/** Stands for what is not shown. */
export const HIDDEN = '***'

/** Values that the service chose itself. */
const OURS = new Set([
  ...['field', 'code', 'count', 'seconds', 'line', 'column', 'cause', 'meaning', 'mistakes', 'right', 'wrong', 'most'],
  ...['bytes', 'block', 'header', 'state', 'to', 'quantity', 'used', 'refunded', 'left', 'tickets', 'codes'],
  ...['interface', 'mount', 'path', 'method', 'date', 'size', 'status', 'expected', 'day', 'wanted'],
  ...['value', 'values', 'least', 'bits', 'type'],
])
/** Ids, as long as they are numbers. */
const IDS = new Set(['order', 'partner', 'named', 'own', 'refund', 'product'])
const NUMBER = /^\d{1,20}$/

/** A reason without what others wrote: words of a partner, codes, ids that are no numbers, texts without an id. */
export const maskedReason = (reason: Detail): Detail =>
  withValues(reason, (value, name) =>
    value === '' || OURS.has(name) || (IDS.has(name) && NUMBER.test(value)) ? value : HIDDEN,
  )

const answered = z.object({ code: z.number(), describe: z.string() })

/** The `describe` of an answer of ours without what others wrote; `reason` is why we refused, null if we did not. */
export function maskedDescribe(describe: string, reason: Detail | null): string {
  if (reason === null || typeof reason === 'string') return describe === 'success' ? describe : HIDDEN
  // Only the sandbox shows the place in a text.
  const said = [reason, ...(reason.id === 'at-line' ? [reason.values.problem ?? ''] : [])]
  const sent = said.find((text) => String(text) === describe)
  return sent === undefined ? HIDDEN : String(maskedReason(sent))
}

/** An answer of ours to a notice, which says the reason in `describe`. */
export function maskedAnswer(answer: string, reason: Detail | null): string {
  const { success, data } = answered.safeParse(jsonIn(answer))
  return success ? JSON.stringify({ ...data, describe: maskedDescribe(data.describe, reason) }) : HIDDEN
}

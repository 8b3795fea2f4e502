import { z } from 'zod'
import { jsonIn } from './json/lossless.ts'
import { type Detail, withValues } from './localized-text.ts'

export const HIDDEN = '***'

/** Values that come from the service itself. */
const OURS = new Set([
  ...['field', 'code', 'count', 'seconds', 'line', 'column', 'cause', 'meaning', 'mistakes', 'right', 'wrong', 'most'],
  ...['bytes', 'block', 'header', 'state', 'to', 'quantity', 'used', 'refunded', 'left', 'tickets', 'codes'],
  ...['interface', 'mount', 'path', 'method', 'date', 'size', 'status', 'expected', 'day', 'wanted'],
  ...['value', 'values', 'least', 'bits', 'type'],
])
/** Ids, shown if they are numbers. */
const IDS = new Set(['order', 'partner', 'named', 'own', 'refund', 'product', 'said'])
const NUMBER = /^\d{1,20}$/

/** A reason with everything that others wrote hidden: words of a partner, codes, non-numeric ids, texts without an id. */
export const maskedReason = (reason: Detail): Detail =>
  withValues(reason, (value, name) =>
    value === '' || OURS.has(name) || (IDS.has(name) && NUMBER.test(value)) ? value : HIDDEN,
  )

const answered = z.object({ code: z.number(), describe: z.string() })

/** The `describe` of our answer with what others wrote hidden; `reason` is why we refused, null if we did not. */
export function maskedDescribe(describe: string, reason: Detail | null): string {
  if (reason === null || typeof reason === 'string') return describe === 'success' ? describe : HIDDEN
  // Only the sandbox's answers include the place in the text.
  const said = [reason, ...(reason.id === 'at-line' ? [reason.values.problem ?? ''] : [])]
  const sent = said.find((text) => String(text) === describe)
  return sent === undefined ? HIDDEN : String(maskedReason(sent))
}

/** Our answer to a notice, masked; `describe` gives the reason. */
export function maskedAnswer(answer: string, reason: Detail | null): string {
  const { success, data } = answered.safeParse(jsonIn(answer))
  return success ? JSON.stringify({ ...data, describe: maskedDescribe(data.describe, reason) }) : HIDDEN
}

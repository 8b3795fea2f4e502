import { z } from 'zod'
import { parseLossless } from './json/lossless.ts'
import { problemDetail } from './json/problem-detail.ts'
import { clauseOf, isNested } from './reason-detail.ts'
import { REASONS } from './reasons.ts'

/** Stands for what is not shown. */
export const HIDDEN = '***'

/** Values that are words or numbers of ours. */
const OURS = new Set([
  ...['field', 'code', 'count', 'seconds', 'line', 'column', 'cause', 'meaning', 'mistakes', 'right', 'wrong', 'most'],
  ...[
    'bytes',
    'block',
    'header',
    'state',
    'to',
    'quantity',
    'used',
    'refunded',
    'left',
    'tickets',
    'codes',
    'interface',
  ],
  ...['mount', 'path', 'method', 'date', 'size', 'status', 'entries', 'expected', 'day'],
])
/** Ids, as long as they are numbers. */
const IDS = new Set(['order', 'partner', 'named', 'own', 'refund', 'product'])
const NUMBER = /^\d{1,20}$/

const shownValue = (name: string, value: string): string =>
  OURS.has(name) || (IDS.has(name) && NUMBER.test(value)) ? value : HIDDEN

/**
 * Why the platform has refused a call, or why a call failed, without what others wrote: the words of a partner, codes of
 * tickets, ids that are no numbers. A clause that is not known is hidden, as is all of `describe` that is not ours.
 */
export function maskedReason(reason: string): string {
  if (reason === '' || reason === 'success' || typeof problemDetail(reason) !== 'string') return reason
  const clause = clauseOf(reason)
  if (!clause) return HIDDEN
  const values = new Map(
    clause.values.map(([name, value]) => [name, isNested(name) ? maskedReason(value) : shownValue(name, value)]),
  )
  return REASONS[clause.id].replace(/\{(\w+)\}/g, (_, name: string) => values.get(name) ?? HIDDEN)
}

const answered = z.object({ code: z.number(), describe: z.string() })

/** The same of an answer of ours to a notice, which says the reason in `describe`. */
export function maskedAnswer(answer: string): string {
  const read = parseLossless(Buffer.from(answer))
  const { success, data } = answered.safeParse('value' in read ? read.value : undefined)
  return success ? JSON.stringify({ ...data, describe: maskedReason(data.describe) }) : HIDDEN
}

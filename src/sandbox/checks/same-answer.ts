import { isDeepStrictEqual } from 'node:util'
import { jsonIn, stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { fieldsOfAnswer, interfaceNamed, SUCCESS } from '../../ticketing/interfaces/index.ts'
import type { CallRecord, SentAgain } from '../../ticketing/partner-calls/index.ts'
import type { Finding } from './checks.ts'
import { startOf } from './shown-value.ts'

/** Calls that change an order have an idempotency key. */
const isKeyed = (name: string): boolean => name.startsWith('order-') && !interfaceNamed(name)?.reads

/** Also a success, for a refund that was made a moment ago. */
const ALREADY_REFUNDED = 601

/**
 * A repeated call has to get the same response, code and fields. Not checked for calls without an idempotency key, or
 * if the first response cannot be read or is not final (598, 602). A repeat that arrives after a later call about the
 * order may be refused instead.
 */
export function sameAnswerFindings({ first, again, isLate }: SentAgain): Finding[] {
  if (!isKeyed(first.interface) || first.code !== SUCCESS) return []
  const finding = { id: 'same-answer', level: 'warning' } as const
  if (again.code !== SUCCESS) {
    const isRefused = isLate && again.code !== null
    const passed = isRefused || (first.interface === 'order-refund' && again.code === ALREADY_REFUNDED)
    const actual = again.code?.toString() ?? localized('nothing')
    return [{ ...finding, passed, path: 'code', expected: String(SUCCESS), actual }]
  }
  const [expected, actual] = [fieldsOf(first), fieldsOf(again)]
  const passed = isDeepStrictEqual(expected, actual)
  return [{ ...finding, passed, path: 'body', expected: shown(expected), actual: shown(actual) }]
}

const shown = (fields: object): string => startOf(stringifyLossless(fields))

/** The envelope, and the times in a refund's response, which may be those of the repeat. */
const NOT_COMPARED = ['code', 'describe', 'partnerId', 'requestTime', 'responseTime']

const fieldsOf = ({ response_body }: CallRecord): object =>
  Object.fromEntries(
    Object.entries(fieldsOfAnswer(jsonIn(response_body))).filter(([name]) => !NOT_COMPARED.includes(name)),
  )

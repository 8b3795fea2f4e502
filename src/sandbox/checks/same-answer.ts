import { isDeepStrictEqual } from 'node:util'
import { jsonIn, stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { fieldsOfAnswer, type InterfaceName, SUCCESS } from '../../ticketing/interfaces/index.ts'
import type { CallRecord, SentAgain } from '../../ticketing/partner-calls/index.ts'
import type { Finding } from './checks.ts'
import { startOf } from './shown-value.ts'

/** Calls that have a key by which the partner knows them again. */
const KEYED: readonly InterfaceName[] = [
  'order-create',
  'order-pay',
  'order-close',
  'order-refund',
  'order-reschedule',
  'order-refunded',
]
/** For a refund that was made a moment ago, this is a success too. */
const ALREADY_REFUNDED = 601

/**
 * A call that comes twice in a row gets one answer: code and fields, in whatever order. Nothing follows of calls that have no key, nor of a
 * first answer that cannot be read or that is not final (598, 602). A repeat that arrives after a later call about the
 * order may be refused instead: it must not do anything again.
 */
export function sameAnswerFindings({ first, again: second, isLate }: SentAgain): Finding[] {
  const isKeyed = KEYED.some((name) => name === first.interface)
  if (!isKeyed || first.code !== SUCCESS) return []
  const finding = { id: 'same-answer', level: 'warning' } as const
  if (second.code !== SUCCESS) {
    const isRefused = isLate && second.code !== null
    const passed = isRefused || (first.interface === 'order-refund' && second.code === ALREADY_REFUNDED)
    const actual = second.code?.toString() ?? localized('nothing')
    return [{ ...finding, passed, path: 'code', expected: String(SUCCESS), actual }]
  }
  const [expected, actual] = [fieldsOf(first), fieldsOf(second)]
  const passed = isDeepStrictEqual(expected, actual)
  return [{ ...finding, passed, path: 'body', expected: shown(expected), actual: shown(actual) }]
}

const shown = (fields: object): string => startOf(stringifyLossless(fields))

/** Of the envelope, and the moments of a refund's answer: they say when it was answered, and may be later ones. */
const NOT_COMPARED = ['code', 'describe', 'partnerId', 'requestTime', 'responseTime']

const fieldsOf = ({ response_body }: CallRecord): object =>
  Object.fromEntries(
    Object.entries(fieldsOfAnswer(jsonIn(response_body))).filter(([name]) => !NOT_COMPARED.includes(name)),
  )

import { PARTNER_LIMITS } from '../config/call-limits.ts'
import type { Config } from '../config/index.ts'
import { MASK } from '../lib/crypto/masking.ts'
import { reasonDetail } from '../lib/reason-said.ts'
import { said } from '../lib/said.ts'
import type { CallRecord } from '../partner-calls/index.ts'
import type { Finding } from './checks.ts'

/** A call as the checks need it. */
export type ExaminedCall = Omit<CallRecord, 'by_hand'>

/** The checks of a response before its content: did it come, in time, whole, as what. */

/** A response that takes longer causes a warning. */
export const ANSWER_SLOW_MS = 3_000
const HEADERS_S = PARTNER_LIMITS.headersMs / 1_000

export const notReached = ({ failure, failure_detail }: ExaminedCall): Finding => ({
  id: 'reached',
  passed: false,
  expected: said('a-response-within', { seconds: String(HEADERS_S), slow: String(ANSWER_SLOW_MS / 1_000) }),
  actual: failure === null ? said('no-response') : reasonDetail(failure_detail ?? failure),
})

/** Nothing of it is kept. */
export const tooLarge = ({ failure_detail }: ExaminedCall): Finding => ({
  id: 'answer-size',
  passed: false,
  expected: said('at-most-mib', { most: String(PARTNER_LIMITS.bytes / 1_048_576) }),
  actual: reasonDetail(failure_detail ?? ''),
})

export const undecrypted = ({ failure_detail }: ExaminedCall): Finding => ({
  id: 'encryption',
  passed: false,
  expected: said('json-or-encrypted'),
  actual: reasonDetail(failure_detail ?? ''),
})

export const statusFinding = (status: number): Finding => ({
  id: 'http-status',
  passed: status === 200,
  expected: '200',
  actual: status >= 300 && status < 400 ? said('not-followed', { status: String(status) }) : String(status),
})

export const timeFinding = (ms: number): Finding => ({
  id: 'answer-time',
  level: 'warning',
  passed: ms <= ANSWER_SLOW_MS,
  expected: said('at-most-ms', { ms: String(ANSWER_SLOW_MS) }),
  actual: `${ms} ms`,
})

/** A mask in the stored answer means that the partner sent its secret or our signature back. */
export const secretFindings = ({ response_headers, response_body }: ExaminedCall): Finding[] =>
  JSON.stringify([response_headers, response_body]).includes(MASK)
    ? [{ id: 'no-secrets', passed: false, expected: '–', actual: MASK }]
    : []

export function typeFinding(headers: object | null): Finding {
  const type = (headers as Record<string, string> | null)?.['content-type']
  const passed = /^application\/json\s*(;|$)/i.test(type ?? '')
  return {
    id: 'content-type',
    level: 'warning',
    passed,
    expected: 'application/json; charset=utf-8',
    actual: type ?? said('none'),
  }
}

/**
 * Failures that say something about our network. Partners choose the URLs, so they must not learn which of these it
 * was.
 */
const ALIKE = ['address', 'dns', 'connect']

const UNREACHABLE = 'the URL cannot be reached, or leads to an address or port that is not called'

/**
 * Whether a failure of this kind is shown as `unreachable`. In production blocked, refused and unreachable look the
 * same.
 */
export const isNetworkFailure = ({ NODE_ENV }: Pick<Config, 'NODE_ENV'>, kind: string): boolean =>
  NODE_ENV === 'production' && ALIKE.includes(kind)

/** A failed call as its partner may see it. */
export const redactFailure = (
  config: Pick<Config, 'NODE_ENV'>,
  failure: { readonly kind: string; readonly detail: string },
): { readonly kind: string; readonly detail: string } =>
  isNetworkFailure(config, failure.kind) ? { kind: 'unreachable', detail: UNREACHABLE } : failure

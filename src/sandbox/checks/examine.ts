import { PARTNER_LIMITS } from '../../platform/config/call-limits.ts'
import type { Config } from '../../platform/config/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { MASK } from '../../platform/lib/crypto/masking.ts'
import { jsonIn, parseLossless, placed } from '../../platform/lib/json/lossless.ts'
import { type Detail, localized } from '../../platform/lib/localized-text.ts'
import { compressedText, otherCharset } from '../../platform/lib/web/body-text.ts'
import { interfaceNamed, type PartnerInterface } from '../../ticketing/interfaces/index.ts'
import type { PartnerStage } from '../../ticketing/partners/index.ts'
import type { CheckId, ExaminedCall, ExpectedChecks, Finding } from './checks.ts'
import { type Refusal, refusalFinding } from './examine-code.ts'
import { contentFindings, type ExpectedCodes, implausibleFindings } from './examine-content.ts'
import { envelopeFindings, reasonFinding } from './examine-envelope.ts'
import { startOf } from './shown-value.ts'

export interface Expectation extends ExpectedCodes {
  /** The call is forged and has to be refused, by any failure code or HTTP 401 or 403. */
  readonly refusal?: Refusal
  /** The call only prepares another one: failed checks are warnings. */
  readonly advisory?: true
}

/**
 * All checks of a call's response as its partner may see them, including warnings about values that look like mistakes.
 */
export async function examineCall(
  deps: Deps,
  stage: PartnerStage,
  call: ExaminedCall,
  expectation: Expectation,
): Promise<Finding[]> {
  const { failure, failure_detail: detail } = call
  const redacted = failure === null ? null : redactFailure(deps.config, { kind: failure, detail: detail ?? failure })
  const examined = examine({ ...call, failure_detail: redacted?.detail ?? null }, expectation, stage)
  return [...examined, ...(await implausibleFindings(deps.db, call))]
}

/** A finding's level defaults to that in `expects`. `advisory`: every failed check is a warning. */
export function verdictOf(
  findings: readonly Finding[],
  expects: ExpectedChecks,
  advisory = false,
): 'passed' | 'warning' | 'failed' {
  const failed = findings.filter(({ passed }) => !passed)
  if (failed.length === 0) return 'passed'
  return advisory || failed.every(({ id, level = expects[id] }) => level === 'warning') ? 'warning' : 'failed'
}

/**
 * The checks of every response: was the partner reached, HTTP status, content type, JSON, code, every field of the
 * interface, ids that must come back unchanged. Checks that earlier failures make meaningless are left out.
 */
export function examine(call: ExaminedCall, expectation: Expectation = {}, stage: PartnerStage = 'sandbox'): Finding[] {
  const { refusal } = expectation
  const definition = interfaceNamed(call.interface)
  const reached: Finding = { id: 'reached', passed: true, actual: `${call.duration_ms} ms` }
  if (call.failure === 'too-large') return [reached, tooLarge(call)]
  if (call.http_status === null || call.response_body === null) return [notReached(call)]
  if (refusal && REFUSAL_STATUSES.includes(call.http_status)) {
    return [reached, ...secretFindings(call), { id: refusal.check, passed: true, actual: `HTTP ${call.http_status}` }]
  }
  const status = statusFinding(call.http_status)
  const transport = [
    reached,
    timeFinding(call.duration_ms),
    status,
    typeFinding(call.response_headers),
    ...secretFindings(call),
  ]
  if (!status.passed) return transport
  if (call.failure === 'encryption') return [...transport, undecrypted(call)]
  const parsed = parseLossless(Buffer.from(call.response_body))
  if (isCompressed(call) || isNotUtf8(call, 'value' in parsed)) return [...transport, notText(call)]
  if ('problem' in parsed) {
    const begin = startOf(call.response_body)
    const actual = begin ? localized('json-begins', { problem: placed(parsed), begin }) : localized('empty-body')
    return [...transport, failed('json', 'JSON', actual)]
  }
  if (!isObject(parsed.value)) return [...transport, notAnObject(parsed.value, call.response_body)]
  const json: Finding = { id: 'json', passed: true }
  if (!definition) return [...transport, json]
  if (refusal) return [...transport, json, ...refusalFindings(definition, parsed.value, refusal, stage)]
  return [...transport, json, ...contentFindings(definition, parsed.value, call, expectation, stage)]
}

function refusalFindings(
  definition: PartnerInterface,
  json: unknown,
  refusal: Refusal,
  stage: PartnerStage,
): Finding[] {
  const finding = refusalFinding(definition, json, refusal)
  if (!finding.passed) return [finding]
  const reason = refusal.ofSignature ? reasonFinding(definition, json) : []
  return [finding, ...envelopeFindings(definition, json, stage), ...reason]
}

const REFUSAL_STATUSES: readonly number[] = [401, 403]

/** Slower responses cause a warning. */
export const ANSWER_SLOW_MS = 3_000
const HEADERS_S = PARTNER_LIMITS.headersMs / 1_000

const failed = (id: CheckId, expected: Detail, actual: Detail): Finding => ({ id, passed: false, expected, actual })

const notReached = ({ failure, failure_detail }: ExaminedCall): Finding =>
  failed(
    'reached',
    localized('a-response-within', { seconds: String(HEADERS_S), slow: String(ANSWER_SLOW_MS / 1_000) }),
    failure === null ? localized('no-response') : (failure_detail ?? failure),
  )

/** The body is not stored. */
const tooLarge = ({ failure_detail }: ExaminedCall): Finding =>
  failed(
    'answer-size',
    localized('at-most-mib', { most: String(PARTNER_LIMITS.bytes / 1_048_576) }),
    failure_detail ?? '',
  )

const undecrypted = ({ failure_detail }: ExaminedCall): Finding =>
  failed('encryption', localized('json-or-encrypted'), failure_detail ?? '')

const isCompressed = ({ response_headers }: ExaminedCall): boolean =>
  compressedText({ 'content-encoding': headerOf(response_headers, 'content-encoding') }) !== undefined

/** The stored text of bytes that are not UTF-8 may parse as JSON, or seem broken in another place. */
const isNotUtf8 = ({ failure, response_body }: ExaminedCall, isJson: boolean): boolean =>
  failure === 'json' && (isJson || response_body?.includes('\ufffd') === true)

/** The stored text has U+FFFD in place of the invalid bytes; the failure says what is wrong with them. */
const notText = ({ failure_detail }: ExaminedCall): Finding => failed('json', 'JSON', problemOf(failure_detail ?? ''))

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** JSON, but not an envelope, so nothing inside it can be checked. */
function notAnObject(value: unknown, body: string): Finding {
  const begin = startOf(body)
  const actual = typeof value === 'string' && isObject(jsonIn(value)) ? localized('encoded-twice', { begin }) : begin
  return failed('json', localized('a-json-object'), actual)
}

const problemOf = (reason: Detail): Detail =>
  typeof reason === 'object' && reason.id === 'response-is' ? (reason.values.problem ?? '') : reason

const headerOf = (headers: object | null, name: string): string | undefined =>
  (headers as Record<string, string> | null)?.[name]

const statusFinding = (status: number): Finding => ({
  id: 'http-status',
  passed: status === 200,
  expected: '200',
  actual: status >= 300 && status < 400 ? localized('not-followed', { status: String(status) }) : String(status),
})

const IN_TIME = localized('at-most-ms', { ms: String(ANSWER_SLOW_MS) })

const timeFinding = (ms: number): Finding => ({
  id: 'answer-time',
  level: 'warning',
  passed: ms <= ANSWER_SLOW_MS,
  expected: IN_TIME,
  actual: `${ms} ms`,
})

/** A mask in the stored response means that the partner sent its secret or our signature back. */
const secretFindings = ({ response_headers, response_body }: ExaminedCall): Finding[] =>
  JSON.stringify([response_headers, response_body]).includes(MASK) ? [failed('no-secrets', '–', MASK)] : []

function typeFinding(headers: object | null): Finding {
  const type = headerOf(headers, 'content-type')
  const passed = /^application\/json\s*(;|$)/i.test(type ?? '') && otherCharset(type) === undefined
  return {
    id: 'content-type',
    level: 'warning',
    passed,
    expected: 'application/json; charset=utf-8',
    actual: type ?? localized('none'),
  }
}

/**
 * Failures that would reveal something about our network: partners choose the URLs, and must not learn which one it
 * was.
 */
const NETWORK_FAILURES = ['address', 'dns', 'connect']

const UNREACHABLE = localized('unreachable')

/** Shown as `unreachable`: in production blocked, refused and unreachable look the same to the partner. */
export const isNetworkFailure = ({ NODE_ENV }: Pick<Config, 'NODE_ENV'>, kind: string): boolean =>
  NODE_ENV === 'production' && NETWORK_FAILURES.includes(kind)

/** A failed call as its partner may see it. */
export const redactFailure = (
  config: Pick<Config, 'NODE_ENV'>,
  failure: { readonly kind: string; readonly detail: Detail },
): { readonly kind: string; readonly detail: Detail } =>
  isNetworkFailure(config, failure.kind) ? { kind: 'unreachable', detail: UNREACHABLE } : failure

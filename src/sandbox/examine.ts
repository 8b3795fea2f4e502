import { parseLossless } from '../lib/lossless.ts'
import type { CallRecord } from '../ticketing/call-store.ts'
import { interfaceNamed } from '../ticketing/interfaces/index.ts'
import { type PartnerInterface, SUCCESS } from '../ticketing/interfaces/interface.ts'
import { readAnswer } from '../ticketing/interfaces/read-answer.ts'
import { MASK } from '../ticketing/masking.ts'
import type { Finding } from './event.ts'
import { fieldsOf } from './json-fields.ts'

/** What an answer should be. */
export interface Expectation {
  /** The answer's code; 200 if left out. Of a refusal the fields are not looked at. */
  readonly codes?: readonly number[]
}

const SLOW_MS = 3_000
const MOST_FIELDS = 20

/**
 * The checks that every answer of a partner goes through, each one only when those before it make it meaningful: was it
 * reached, HTTP status, content type, JSON, code, every field of the interface, ids that must come back unchanged.
 */
export function examine(call: CallRecord, { codes = [SUCCESS] }: Expectation = {}): Finding[] {
  const entry = interfaceNamed(call.interface)
  if (call.http_status === null || call.response_body === null) return [notReached(call)]
  const reached: Finding = { id: 'reached', passed: true, actual: `${call.duration_ms} ms` }
  const status = statusFinding(call.http_status)
  const about = [
    reached,
    timeFinding(call.duration_ms),
    status,
    typeFinding(call.response_headers),
    ...secretFindings(call),
  ]
  if (!status.passed) return about
  const parsed = parseLossless(Buffer.from(call.response_body))
  if ('problem' in parsed) {
    return [
      ...about,
      { id: 'json', passed: false, expected: 'JSON', actual: startOf(call.response_body) || 'an empty body' },
    ]
  }
  const json: Finding = { id: 'json', passed: true }
  return [...about, json, ...(entry ? contentFindings(entry, parsed.value, call, codes) : [])]
}

const notReached = ({ failure, failure_detail }: CallRecord): Finding => ({
  id: 'reached',
  passed: false,
  expected: 'an answer',
  actual: failure_detail ?? failure ?? 'no answer',
})

const statusFinding = (status: number): Finding => ({
  id: 'http-status',
  passed: status === 200,
  expected: '200',
  actual: status >= 300 && status < 400 ? `${status}; redirects are not followed` : String(status),
})

const timeFinding = (ms: number): Finding => ({
  id: 'answer-time',
  passed: ms <= SLOW_MS,
  expected: `at most ${SLOW_MS} ms`,
  actual: `${ms} ms`,
})

/** What was masked when the answer was kept: a partner has no reason to send its secret or our signature back. */
const secretFindings = ({ response_headers, response_body }: CallRecord): Finding[] =>
  JSON.stringify([response_headers, response_body]).includes(MASK)
    ? [{ id: 'no-secrets', passed: false, expected: '–', actual: MASK }]
    : []

function typeFinding(headers: object | null): Finding {
  const type = (headers as Record<string, string> | null)?.['content-type']
  const passed = /^application\/json\s*(;|$)/i.test(type ?? '')
  return { id: 'content-type', passed, expected: 'application/json; charset=utf-8', actual: type ?? 'none' }
}

function contentFindings(
  entry: PartnerInterface,
  json: unknown,
  call: CallRecord,
  codes: readonly number[],
): Finding[] {
  const doc = `${entry.name}.answer`
  const reading = readAnswer(entry, json)
  const code = codeFinding(json, codes, doc)
  const same = [partnerIdFinding(json, call.partner_id, doc), orderIdFinding(json, call.order_id, doc)]
  const ids = same.filter((finding) => finding !== undefined)
  if (!code.passed) return [code, ...ids.filter(({ passed }) => !passed)]
  if (reading.outcome !== 'misshapen') return [code, { id: 'fields', passed: true }, ...ids]
  const problems = reading.problems.slice(0, MOST_FIELDS).map(
    ({ path, problem }): Finding => ({
      id: 'fields',
      passed: false,
      path,
      expected: problem,
      actual: shown(valueAt(json, path)),
      doc: `${doc}.${withoutIndexes(path)}`,
    }),
  )
  return [code, ...problems, ...ids]
}

function codeFinding(json: unknown, codes: readonly number[], doc: string): Finding {
  const { code, describe } = fieldsOf(json)
  const passed = codes.includes(Number(code))
  const said = passed || describe === undefined ? '' : ` (${shown(describe)})`
  return {
    id: 'code',
    passed,
    path: 'code',
    expected: codes.join(' / '),
    actual: `${shown(code)}${said}`,
    doc: `${doc}.code`,
  }
}

/** Optional in answers; when it is there it must be the partner's own. */
function partnerIdFinding(json: unknown, partnerId: bigint, doc: string): Finding | undefined {
  const { partnerId: given } = fieldsOf(json)
  if (given === undefined || given === null || given === '') return undefined
  const passed = String(given) === String(partnerId)
  return {
    id: 'partner-id',
    passed,
    path: 'partnerId',
    expected: String(partnerId),
    actual: shown(given),
    doc: `${doc}.partnerId`,
  }
}

/** An order id that comes back must be the one that was sent, to the last digit. */
function orderIdFinding(json: unknown, orderId: bigint | null, doc: string): Finding | undefined {
  const { orderId: given } = fieldsOf(fieldsOf(json).body)
  if (orderId === null || given === undefined || given === null || given === '') return undefined
  const passed = String(given) === String(orderId)
  const path = 'body.orderId'
  return { id: 'order-id', passed, path, expected: String(orderId), actual: shown(given), doc: `${doc}.${path}` }
}

/** The value at `body[0].title`; undefined where the way ends early. */
const valueAt = (json: unknown, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>((value, step) => fieldsOf(value)[step], json)

const withoutIndexes = (path: string): string => path.replace(/\[\d+\]/g, '')

const MOST_SHOWN = 120

const startOf = (text: string): string => text.slice(0, MOST_SHOWN)

/** A value of the partner's as a check shows it; `missing` where there is none. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintsAsText) ?? String(value))
  return startOf(text)
}

const bigintsAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

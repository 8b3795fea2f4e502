import { interfaceNamed, type PartnerInterface, readAnswer, SUCCESS } from '../interfaces/index.ts'
import { isRounded, parseLossless, placed } from '../lib/json/lossless.ts'
import { problemDetail } from '../lib/json/problem-said.ts'
import type { ShapeProblem } from '../lib/json/shape.ts'
import { reasonDetail } from '../lib/reason-said.ts'
import { said } from '../lib/said.ts'
import type { Finding } from './checks.ts'
import {
  type Codes,
  codeFinding,
  envelopeFindings,
  jsonFields,
  type Refusal,
  reasonFinding,
  refusalFinding,
  type Stage,
  shownDetail,
  shownValue,
  startOf,
  withRemark,
} from './examine-code.ts'
import {
  type ExaminedCall,
  notReached,
  secretFindings,
  statusFinding,
  timeFinding,
  tooLarge,
  typeFinding,
  undecrypted,
} from './examine-http.ts'

/** What an answer should be. */
export interface Expectation {
  /** The answer's code; 200 if left out. The fields of an answer with a failure code are not checked. */
  readonly codes?: Codes
  /** The codes that the contract names, where others are accepted with a warning. */
  readonly usual?: readonly number[]
  /** The call is forged, and any refusal is right: a failure code, or HTTP 401 or 403. */
  readonly refusal?: Refusal
}

const MOST_FIELDS = 20

/**
 * The checks that every answer of a partner goes through: was it reached, HTTP status, content type, JSON, code, every
 * field of the interface, ids that must come back unchanged. Each is made only when those before it give it a meaning.
 */
export function examine(call: ExaminedCall, expectation: Expectation = {}, stage: Stage = 'sandbox'): Finding[] {
  const { refusal } = expectation
  const entry = interfaceNamed(call.interface)
  const reached: Finding = { id: 'reached', passed: true, actual: `${call.duration_ms} ms` }
  if (call.failure === 'too-large') return [reached, tooLarge(call)]
  if (call.http_status === null || call.response_body === null) return [notReached(call)]
  if (refusal && REFUSING.includes(call.http_status)) {
    return [reached, ...secretFindings(call), { id: refusal.check, passed: true, actual: `HTTP ${call.http_status}` }]
  }
  const status = statusFinding(call.http_status)
  const about = [
    reached,
    timeFinding(call.duration_ms),
    status,
    typeFinding(call.response_headers),
    ...secretFindings(call),
  ]
  if (!status.passed) return about
  if (call.failure === 'encryption') return [...about, undecrypted(call)]
  const parsed = parseLossless(Buffer.from(call.response_body))
  if ('problem' in parsed) {
    const begin = startOf(call.response_body)
    const actual = begin ? said('json-begins', { problem: reasonDetail(placed(parsed)), begin }) : said('empty-body')
    return [...about, { id: 'json', passed: false, expected: 'JSON', actual }]
  }
  const json: Finding = { id: 'json', passed: true }
  if (!entry) return [...about, json]
  if (refusal) return [...about, json, ...refusalFindings(entry, parsed.value, refusal, stage)]
  return [...about, json, ...contentFindings(entry, parsed.value, call, expectation, stage)]
}

function refusalFindings(entry: PartnerInterface, json: unknown, refusal: Refusal, stage: Stage): Finding[] {
  const finding = refusalFinding(entry, json, refusal)
  if (!finding.passed) return [finding]
  const reason = refusal.ofSignature ? reasonFinding(entry, json) : []
  return [finding, ...envelopeFindings(entry, json, stage), ...reason]
}

const REFUSING: readonly number[] = [401, 403]

function contentFindings(
  entry: PartnerInterface,
  json: unknown,
  call: ExaminedCall,
  { codes = [SUCCESS], usual }: Expectation,
  stage: Stage,
): Finding[] {
  const doc = `${entry.name}.answer`
  const reading = readAnswer(entry, json)
  const code = codeFinding(entry, json, codes)
  const same = [partnerIdFinding(json, call.partner_id, doc), orderIdFinding(json, call.order_id, doc)]
  const ids = same.filter((finding) => finding !== undefined)
  const envelope = envelopeFindings(entry, json, stage)
  if (!code.passed) return [code, ...[...envelope, ...ids].filter(({ passed }) => !passed)]
  const named = usual
    ? [{ ...codeFinding(entry, json, usual), id: 'usual-code', level: 'warning' } satisfies Finding]
    : []
  const wrong = (kind: Pick<Finding, 'id' | 'level'>, problems: readonly ShapeProblem[]): Finding[] =>
    problems.slice(0, MOST_FIELDS).map(({ path, problem }) => ({
      ...kind,
      passed: false,
      path,
      expected: problemDetail(problem),
      actual: withRemark(shownDetail(valueAt(json, path)), path, json),
      doc: `${doc}.${withoutIndexes(path)}`,
    }))
  if (reading.outcome === 'misshapen') return [code, ...envelope, ...wrong({ id: 'fields' }, reading.problems), ...ids]
  const soft = reading.outcome === 'success' ? (entry.warnings?.(json) ?? []) : []
  return [
    code,
    ...named,
    ...envelope,
    { id: 'fields', passed: true },
    ...wrong({ id: 'soft-fields', level: 'warning' }, soft),
    ...ids,
  ]
}

/** When it is there it must be the partner's own. */
function partnerIdFinding(json: unknown, partnerId: bigint, doc: string): Finding | undefined {
  const { partnerId: given } = jsonFields(json)
  if (given === undefined || given === null || given === '') return undefined
  const passed = String(given) === String(partnerId)
  return {
    id: 'partner-id',
    passed,
    path: 'partnerId',
    expected: String(partnerId),
    actual: shownValue(given),
    doc: `${doc}.partnerId`,
  }
}

/** An order id that comes back must be the one that was sent, to the last digit. */
function orderIdFinding(json: unknown, orderId: bigint | null, doc: string): Finding | undefined {
  const { orderId: given } = jsonFields(jsonFields(json).body)
  if (orderId === null || given === undefined || given === null || given === '') return undefined
  const passed = String(given) === String(orderId)
  const path = 'body.orderId'
  const actual = isRounded(given, orderId) ? said('rounded', { value: shownValue(given) }) : shownValue(given)
  return { id: 'order-id', passed, path, expected: String(orderId), actual, doc: `${doc}.${path}` }
}

/** The value at a path such as `body[0].title`; undefined if there is none. */
const valueAt = (json: unknown, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>((value, step) => jsonFields(value)[step], json)

const withoutIndexes = (path: string): string => path.replace(/\[\d+\]/g, '')

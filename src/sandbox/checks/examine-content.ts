import { z } from 'zod'
import type { Db } from '../../platform/db/sql.ts'
import { jsonIn } from '../../platform/lib/json/lossless.ts'
import { listOf, type ShapeProblem } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { implausibleValues } from '../../ticketing/catalogue/index.ts'
import {
  answerWarnings,
  type Echo,
  echoesOf,
  interfaceNamed,
  jsonFields,
  type PartnerInterface,
  readAnswer,
  SUCCESS,
  withBody,
} from '../../ticketing/interfaces/index.ts'
import type { PartnerStage } from '../../ticketing/partners/index.ts'
import type { ExaminedCall, Finding } from './checks.ts'
import { type Codes, codeFinding } from './examine-code.ts'
import { envelopeFindings } from './examine-envelope.ts'
import { shownDetail, shownValue, withRemark } from './shown-value.ts'

export interface ExpectedCodes {
  /** Defaults to 200. The fields of a response with a failure code are not checked. */
  readonly codes?: Codes
  /** The contract's codes; others are accepted with a warning. */
  readonly usual?: readonly number[]
}

const MAX_FIELDS = 20

/** Checks of a JSON response: its code, every field of the interface, ids that must come back unchanged. */
export function contentFindings(
  definition: PartnerInterface,
  json: unknown,
  call: ExaminedCall,
  { codes = [SUCCESS], usual }: ExpectedCodes,
  stage: PartnerStage,
): Finding[] {
  const doc = `${definition.name}.answer`
  const reading = readAnswer(definition, json)
  const code = codeFinding(definition, json, codes)
  const mayBeEmpty = reading.outcome === 'failed' || reading.outcome === 'pending'
  const ids = [...partnerIdFindings(json, call.partner_id, doc), ...echoFindings(json, call, doc, !mayBeEmpty)]
  const envelope = envelopeFindings(definition, json, stage)
  if (!code.passed) return [code, ...[...envelope, ...ids].filter(({ passed }) => !passed)]
  const named = usual
    ? [{ ...codeFinding(definition, json, usual), id: 'usual-code', level: 'warning' } satisfies Finding]
    : []
  const answer = withBody(definition, json)
  const failures = (kind: Pick<Finding, 'id' | 'level'>, problems: readonly ShapeProblem[]): Finding[] =>
    problems.slice(0, MAX_FIELDS).map(({ path, problem }) => ({
      ...kind,
      passed: false,
      path,
      expected: problem,
      problem: true,
      actual: withRemark(shownDetail(valueAt(answer, path)), path, json),
      doc: docOfAnswer(definition.name, path),
    }))
  if (reading.outcome === 'invalid') return [code, ...envelope, ...failures({ id: 'fields' }, reading.problems), ...ids]
  const lenient = reading.outcome === 'success' ? answerWarnings(definition, json) : []
  return [
    code,
    ...named,
    ...envelope,
    { id: 'fields', passed: true },
    ...failures({ id: 'soft-fields', level: 'warning' }, lenient),
    ...ids,
  ]
}

/** Optional, but must be the partner's own. */
function partnerIdFindings(json: unknown, partnerId: bigint, doc: string): Finding[] {
  const { partnerId: given } = jsonFields(json)
  if (given === undefined || given === null || given === '') return []
  const passed = String(given) === String(partnerId)
  const [expected, actual] = [String(partnerId), shownValue(given)]
  return [{ id: 'partner-id', passed, path: 'partnerId', expected, actual, doc: `${doc}.partnerId` }]
}

/** Ids with a check of their own; others are checked as fields. */
const ID_CHECKS: Readonly<Partial<Record<Echo['name'], Finding['id']>>> = { orderId: 'order-id', refundId: 'refund-id' }

/** Ids must come back exactly as sent. */
function echoFindings(json: unknown, call: ExaminedCall, doc: string, isSuccess: boolean): Finding[] {
  return echoesOf(jsonIn(call.request_body), json, isSuccess).flatMap((echo) => {
    const { name, path, asked: expected, given, same: passed, rounded } = echo
    const id = ID_CHECKS[name]
    if (id === undefined && passed) return []
    const actual = rounded ? localized('rounded', { value: shownValue(given) }) : shownValue(given)
    return [{ id: id ?? 'fields', passed, path, expected, actual, doc: `${doc}.${path}` }]
  })
}

/** `path` such as `body[0].title`. */
const valueAt = (json: unknown, path: string): unknown =>
  path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<unknown>((value, step) => jsonFields(value)[step], json)

const withoutIndexes = (path: string): string => path.replace(/\[\d*\]/g, '')

/** Where the field reference explains a field of an answer. */
export const docOfAnswer = (name: string, path: string): string => `${name}.answer.${withoutIndexes(path)}`

const MAX_IMPLAUSIBLE = 20

const listing = z.looseObject({ body: listOf('prices', z.looseObject({})) })

/**
 * Warnings about valid values that look like mistakes (REFERENCE "Values that look like mistakes"), such as cents given
 * as yuan; none if other checks fail.
 */
export async function implausibleFindings(db: Db, call: ExaminedCall): Promise<Finding[]> {
  const definition = interfaceNamed(call.interface)
  if (!definition?.implausible || call.http_status !== 200 || call.response_body === null) return []
  if (call.failure === 'json') return []
  const reading = readAnswer(definition, jsonIn(call.response_body))
  if (reading.outcome !== 'success') return []
  const implausible = await implausibleValues(db, call.partner_id, definition, listing.parse(reading.answer))
  return implausible.slice(0, MAX_IMPLAUSIBLE).map(({ index, path, problem }) => ({
    id: 'plausible',
    level: 'warning',
    passed: false,
    path: `body[${index}].${path}`,
    actual: problem,
    doc: docOfAnswer(definition.name, `body.${path}`),
  }))
}

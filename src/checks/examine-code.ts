import { jsonFields, type PartnerInterface, remarkIn, SUCCESS } from '../interfaces/index.ts'
import { type Detail, type Said, said } from '../lib/said.ts'
import { FORGED_DATE_AGE_S, type Forgery } from '../partner-calls/index.ts'
import type { PartnerStage } from '../partners/index.ts'
import type { CheckId, ExpectedChecks, Finding, Level } from './checks.ts'

/** Codes that an answer may have. `failure`: any that means neither success nor "not yet". */
export type Codes = readonly number[] | 'failure'

export interface Refusal {
  readonly check: CheckId
  /** How the log describes a partner that did not refuse; gets the code that it answered with as `said`. */
  readonly accepted: Said
  /** Its answer to the same call correctly made, if that was no success either: the same answer again is no refusal. */
  readonly honest?: unknown
  /** The signature or its clientId is wrong, and `describe` has to say so. */
  readonly ofSignature?: boolean
}

/** How a call that was forged in this way has to be refused, and the level of the check that it was. */
export const REFUSAL_OF = {
  signature: {
    refusal: { check: 'signature-checked', accepted: said('accepted-signature'), ofSignature: true },
    expects: { 'signature-checked': 'error' },
  },
  /** A warning only: no seller's program in the field looks at the age of the Date. */
  date: {
    refusal: { check: 'date-checked', accepted: said('accepted-date', { minutes: String(FORGED_DATE_AGE_S / 60) }) },
    expects: { 'date-checked': 'warning' },
  },
  client: {
    refusal: { check: 'client-checked', accepted: said('accepted-client'), ofSignature: true },
    expects: { 'client-checked': 'error' },
  },
} as const satisfies Record<Forgery, { readonly refusal: Refusal; readonly expects: ExpectedChecks }>

/** Whether the answer has a failure code. Only a whole number is a code. */
const isFailure = ({ pending }: PartnerInterface, json: unknown): boolean => {
  const { code } = jsonFields(json)
  const isCode = typeof code === 'number' || (typeof code === 'string' && /^\d+$/.test(code))
  return isCode && Number(code) !== SUCCESS && !(Number(code) in pending)
}

export function refusalFinding(
  definition: PartnerInterface,
  json: unknown,
  { check, accepted, honest }: Refusal,
): Finding {
  const answered = saidIn(json)
  const isOther = honest === undefined || JSON.stringify(answered) !== JSON.stringify(saidIn(honest))
  const passed = isFailure(definition, json) && isOther
  return {
    id: check,
    passed,
    path: 'code',
    expected: said('any-refusal'),
    actual: passed ? answered : said(accepted.text, { ...accepted.values, said: answered }),
    doc: `${definition.name}.answer.code`,
  }
}

function saidIn(json: unknown): Detail {
  const { code, describe } = jsonFields(json)
  return describe === undefined
    ? shownDetail(code)
    : said('code-and-text', { code: shownDetail(code), describe: shownValue(describe) })
}

export function codeFinding(definition: PartnerInterface, json: unknown, codes: Codes): Finding {
  const passed = codes === 'failure' ? isFailure(definition, json) : codes.includes(Number(jsonFields(json).code))
  return {
    id: 'code',
    passed,
    path: 'code',
    expected: codes === 'failure' ? said('other-than-200') : codes.join(' / '),
    actual: passed ? shownDetail(jsonFields(json).code) : saidIn(json),
    doc: `${definition.name}.answer.code`,
  }
}

const MOST_SHOWN = 120

export const startOf = (text: string): string => text.slice(0, MOST_SHOWN)

/** When the list is missing, the partner's own remark is the reason. */
export function withRemark(value: Detail, path: string, json: unknown): Detail {
  const remark = path === 'body' ? remarkIn(json) : undefined
  return remark === undefined ? value : said('with-remark', { value, remark: shownValue(remark) })
}

/** A value from the answer as a check shows it, or that there is none. */
export const shownDetail = (value: unknown): Detail => (value === undefined ? said('missing') : shownValue(value))

/** The same of a value that is there. */
export function shownValue(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintsAsText) ?? String(value))
  return startOf(text)
}

const bigintsAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** What partners of stage sandbox must not do, and live ones may (DECISIONS "Sandbox"). */
export const strictness = (stage: PartnerStage): Level => (stage === 'sandbox' ? 'error' : 'warning')

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

const AN_INTEGER = said('an-integer')
const A_TEXT = said('a-text')

/** A PartnerId as text; of one that came as a number, its own digits. */
const textOfId = (given: unknown): Said =>
  said('a-text-such-as', { example: `"${/^\d{1,19}$/.test(String(given)) ? given : '7001'}"` })

/** What stands where a text should; a number looks like one. */
const insteadOfText = (value: unknown): Detail =>
  typeof value === 'number' || typeof value === 'bigint'
    ? said('the-number', { value: shownValue(value) })
    : shownDetail(value)

/**
 * Code, describe and partnerId of an answer, refusals too: an integer and two texts. A code that is missing fails the
 * check of the code.
 */
export function envelopeFindings({ name }: PartnerInterface, json: unknown, stage: PartnerStage): Finding[] {
  const { code, describe, partnerId } = jsonFields(json)
  const fields = [
    { path: 'code', value: code, fits: code === undefined || Number.isInteger(code), expects: () => AN_INTEGER },
    { path: 'describe', value: describe, fits: isText(describe), expects: () => A_TEXT },
    { path: 'partnerId', value: partnerId, fits: isText(partnerId), expects: textOfId },
  ]
  const wrong = fields.filter(({ fits }) => !fits)
  if (wrong.length === 0) return [{ id: 'envelope', passed: true }]
  const level = strictness(stage)
  return wrong.map(({ path, value, expects }) => ({
    ...{ id: 'envelope', passed: false, level, path, expected: expects(value) },
    actual: path === 'code' ? shownDetail(value) : insteadOfText(value),
    doc: `${name}.answer.${path}`,
  }))
}

/** Words with which programs say that a signature or its clientId is the reason. */
const NAMES_SIGNATURE = /BA|sign|auth|verif|client|credential|签|鉴权|认证|验证|校验/

/** A refused signature is told by "BA verification failed"; other words for it are taken (DECISIONS "Sandbox"). */
export function reasonFinding({ name }: PartnerInterface, json: unknown): Finding[] {
  const { describe } = jsonFields(json)
  if (!isText(describe) || NAMES_SIGNATURE.test(String(describe))) return []
  return [
    {
      ...{ id: 'refusal-reason', level: 'warning', passed: false, path: 'describe' },
      expected: 'BA verification failed',
      actual: shownDetail(describe),
      doc: `${name}.answer.describe`,
    },
  ]
}

import { type PartnerInterface, remarkIn, SUCCESS } from '../interfaces/index.ts'
import { type Detail, type Said, said } from '../lib/said.ts'
import type { CheckId } from './checks.ts'
import type { Finding } from './event.ts'

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

/** Whether the answer has a failure code. Only a whole number is a code. */
const isFailure = ({ pending }: PartnerInterface, json: unknown): boolean => {
  const { code } = jsonFields(json)
  const isCode = typeof code === 'number' || (typeof code === 'string' && /^\d+$/.test(code))
  return isCode && Number(code) !== SUCCESS && !(Number(code) in pending)
}

export function refusalFinding(entry: PartnerInterface, json: unknown, { check, accepted, honest }: Refusal): Finding {
  const answered = saidIn(json)
  const isOther = honest === undefined || JSON.stringify(answered) !== JSON.stringify(saidIn(honest))
  const passed = isFailure(entry, json) && isOther
  return {
    id: check,
    passed,
    path: 'code',
    expected: said('any-refusal'),
    actual: passed ? answered : said(accepted.text, { ...accepted.values, said: answered }),
    doc: `${entry.name}.answer.code`,
  }
}

function saidIn(json: unknown): Detail {
  const { code, describe } = jsonFields(json)
  return describe === undefined
    ? shownDetail(code)
    : said('code-and-text', { code: shownDetail(code), describe: shown(describe) })
}

export function codeFinding(entry: PartnerInterface, json: unknown, codes: Codes): Finding {
  const passed = codes === 'failure' ? isFailure(entry, json) : codes.includes(Number(jsonFields(json).code))
  return {
    id: 'code',
    passed,
    path: 'code',
    expected: codes === 'failure' ? said('other-than-200') : codes.join(' / '),
    actual: passed ? shownDetail(jsonFields(json).code) : saidIn(json),
    doc: `${entry.name}.answer.code`,
  }
}

const MOST_SHOWN = 120

export const startOf = (text: string): string => text.slice(0, MOST_SHOWN)

/** When the list is missing, the partner's own remark is the reason. */
export function withRemark(value: Detail, path: string, json: unknown): Detail {
  const remark = path === 'body' ? remarkIn(json) : undefined
  return remark === undefined ? value : said('with-remark', { value, remark: shown(remark) })
}

/** A value from the answer as a check shows it, or that there is none. */
export const shownDetail = (value: unknown): Detail => (value === undefined ? said('missing') : shown(value))

/** The same of a value that is there. */
export function shown(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintsAsText) ?? String(value))
  return startOf(text)
}

const bigintsAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** The fields of a JSON object; of anything else there are none. */
export const jsonFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

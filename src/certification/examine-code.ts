import { type PartnerInterface, SUCCESS } from '../interfaces/interface.ts'
import type { CheckId } from './checks.ts'
import type { Finding } from './event.ts'
import { fieldsOf } from './json-fields.ts'

/** Codes that an answer may have. `failure`: any that means neither success nor "not yet". */
export type Codes = readonly number[] | 'failure'

export interface Refusal {
  readonly check: CheckId
  /** What the partner has done when it has not refused: `accepted a call whose …`. */
  readonly accepted: string
  /** What it said to the same call rightly made, if that was no success either: the same again is no refusal. */
  readonly honest?: unknown
}

/** Whether a code says no. Only a whole number does. */
const isFailure = ({ pending }: PartnerInterface, json: unknown): boolean => {
  const { code } = fieldsOf(json)
  const isCode = typeof code === 'number' || (typeof code === 'string' && /^\d+$/.test(code))
  return isCode && Number(code) !== SUCCESS && !(Number(code) in pending)
}

export function refusalFinding(entry: PartnerInterface, json: unknown, { check, accepted, honest }: Refusal): Finding {
  const said = saidIn(json)
  const passed = isFailure(entry, json) && (honest === undefined || said !== saidIn(honest))
  return {
    id: check,
    passed,
    path: 'code',
    expected: 'a code other than 200, or HTTP 401 or 403',
    actual: passed ? said : `${accepted} (code ${said})`,
    doc: `${entry.name}.answer.code`,
  }
}

function saidIn(json: unknown): string {
  const { code, describe } = fieldsOf(json)
  return describe === undefined ? shown(code) : `${shown(code)}: ${shown(describe)}`
}

export function codeFinding(entry: PartnerInterface, json: unknown, codes: Codes, id: CheckId = 'code'): Finding {
  const passed = codes === 'failure' ? isFailure(entry, json) : codes.includes(Number(fieldsOf(json).code))
  return {
    id,
    passed,
    path: 'code',
    expected: codes === 'failure' ? 'a code other than 200' : codes.join(' / '),
    actual: passed ? shown(fieldsOf(json).code) : saidIn(json),
    doc: `${entry.name}.answer.code`,
  }
}

const MOST_SHOWN = 120

export const startOf = (text: string): string => text.slice(0, MOST_SHOWN)

/** A value of the partner's as a check shows it; `missing` where there is none. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintsAsText) ?? String(value))
  return startOf(text)
}

const bigintsAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

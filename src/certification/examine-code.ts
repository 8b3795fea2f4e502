import { type PartnerInterface, SUCCESS } from '../interfaces/index.ts'
import { type Detail, said } from '../lib/said.ts'
import type { CheckId } from './checks.ts'
import type { Finding } from './event.ts'

/** Codes that an answer may have. `failure`: any that means neither success nor "not yet". */
export type Codes = readonly number[] | 'failure'

export interface Refusal {
  readonly check: CheckId
  /** How the log describes a partner that did not refuse: `accepted a call whose …`. */
  readonly accepted: string
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
  const { code, describe } = jsonFields(json)
  return describe === undefined ? shown(code) : `${shown(code)}: ${shown(describe)}`
}

export function codeFinding(entry: PartnerInterface, json: unknown, codes: Codes): Finding {
  const passed = codes === 'failure' ? isFailure(entry, json) : codes.includes(Number(jsonFields(json).code))
  return {
    id: 'code',
    passed,
    path: 'code',
    expected: codes === 'failure' ? 'a code other than 200' : codes.join(' / '),
    actual: passed ? shown(jsonFields(json).code) : saidIn(json),
    doc: `${entry.name}.answer.code`,
  }
}

const MOST_SHOWN = 120

export const startOf = (text: string): string => text.slice(0, MOST_SHOWN)

/** The same as a detail in words. */
export const shownDetail = (value: unknown): Detail => (value === undefined ? said('missing') : shown(value))

/** A value from the answer as a check shows it; `missing` where there is none. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintsAsText) ?? String(value))
  return startOf(text)
}

const bigintsAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

/** The fields of a JSON object; of anything else there are none. */
export const jsonFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

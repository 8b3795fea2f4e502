import { type Detail, localized } from '../../platform/lib/localized-text.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { remarkIn } from '../../ticketing/interfaces/index.ts'

/** Values of an answer as the details of a check show them. */

const MAX_SHOWN = 120

export const startOf = (text: string): string => cutTo(text, MAX_SHOWN)

/** When the list is missing, the partner's own remark is the reason. */
export function withRemark(value: Detail, path: string, json: unknown): Detail {
  const remark = path === 'body' ? remarkIn(json) : undefined
  return remark === undefined ? value : localized('with-remark', { value, remark: shownValue(remark) })
}

/** A value from the answer as a check shows it, or that there is none. */
export const shownDetail = (value: unknown): Detail => (value === undefined ? localized('missing') : shownValue(value))

export function shownValue(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintsAsText) ?? String(value))
  return startOf(text)
}

const bigintsAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

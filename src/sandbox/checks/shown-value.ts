import { otherSpellingIn } from '../../platform/lib/json/shape.ts'
import { type Detail, localized } from '../../platform/lib/localized-text.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { jsonFields, remarkIn } from '../../ticketing/interfaces/index.ts'

/** Formats values of a response for the details of a check. */

const MAX_SHOWN = 120

export const startOf = (text: string): string => cutTo(text, MAX_SHOWN)

/** Adds the partner's own remark if the body is missing: it says why. */
export function withRemark(value: Detail, path: string, json: unknown): Detail {
  const remark = path === 'body' ? remarkIn(json) : undefined
  return remark === undefined ? value : localized('with-remark', { value, remark: shownValue(remark) })
}

/** A value for display, or that it is missing. */
export const shownDetail = (value: unknown): Detail => (value === undefined ? localized('missing') : shownValue(value))

/** A field of a response for display, or that it is missing, perhaps because of its spelling. */
export function shownField(json: unknown, name: string): Detail {
  const other = otherSpellingIn(json, name)
  const value = jsonFields(json)[name]
  return value === undefined && other !== undefined
    ? localized('missing-as-spelt', { name: other })
    : shownDetail(value)
}

export function shownValue(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : (JSON.stringify(value, bigintsAsText) ?? String(value))
  return startOf(text)
}

const bigintsAsText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

import type { Locale } from '../../../../platform/lib/web/locale.ts'
import { CATALOGUE_MEANINGS } from './catalogue.ts'
import { ORDER_MEANINGS } from './orders.ts'
import { PRODUCT_MEANINGS } from './product.ts'
import { CODES_ZH, type Meaning, type Meanings, VALUES } from './values.ts'

export const FIELD_MEANINGS: Meanings = { ...CATALOGUE_MEANINGS, ...ORDER_MEANINGS, ...PRODUCT_MEANINGS }

/** The table's most specific key for the field at `anchor`. */
function nameIn(table: object, anchor: string): string | undefined {
  const parts = anchor.split('.')
  return parts.map((_part, index) => parts.slice(index).join('.')).find((name) => Object.hasOwn(table, name))
}

/** The meaning of each value of an enumeration; empty for other fields. */
export function valuesOf(anchor: string, locale: Locale): { value: string; meaning: string }[] {
  const key = nameIn(VALUES, anchor)
  return Object.entries(key === undefined ? {} : (VALUES[key] ?? {})).map(([value, [en, zh]]) => ({
    value,
    meaning: locale === 'en' ? en : zh,
  }))
}

/** The key of the most specific entry for an anchor; throws if there is none (a test covers all fields). */
export function meaningKey(anchor: string): string {
  const key = nameIn(FIELD_MEANINGS, anchor)
  if (key === undefined) throw new Error(`the field ${anchor} has no meaning in src/sandbox/portal/docs/meanings`)
  return key
}

const entryFor = (anchor: string): Meaning => FIELD_MEANINGS[meaningKey(anchor)] as Meaning

export function meaningOf(anchor: string, locale: Locale): string {
  const [en, zh] = entryFor(anchor)
  return locale === 'en' ? en : zh
}

export const exampleFor = (anchor: string): unknown => entryFor(anchor)[2]

export const codeMeaning = (english: string, locale: Locale): string =>
  locale === 'en' ? english : (CODES_ZH[english] ?? english)

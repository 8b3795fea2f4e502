import { readFileSync } from 'node:fs'
import { jsonIn } from '../../../platform/lib/json/lossless.ts'
import { ROOT, readTexts } from '../../../platform/lib/root.ts'
import type { Locale } from '../../../platform/lib/web/locale.ts'
import { jsonFields } from '../../../ticketing/interfaces/index.ts'
import type { SchemaField } from './field.ts'

/** What a field means, what one of its values means, and when it is there if that depends on more than its message. */
type TextKind = 'meaning' | 'value' | 'when'

/** By kind and field, or by the end of its anchor (`meaning.status`, `value.voucherList.status.1`). */
const TEXTS: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: readTexts('fields.en'),
  'zh-CN': readTexts('fields.zh-CN'),
}

/** By field, or by the end of its anchor; objects with fields need none. */
const EXAMPLES = jsonFields(jsonIn(readFileSync(new URL('views/sandbox/field-examples.json', ROOT), 'utf8')))

/** By the English that interfaces and states have. */
const CODES_AND_STATES = readTexts('codes-and-states.zh-CN')

/** The table's most specific key for an anchor. */
function keyIn(table: object, anchor: string, prefix = ''): string | undefined {
  const parts = anchor.split('.')
  const keys = parts.map((_part, index) => prefix + parts.slice(index).join('.'))
  return keys.find((key) => Object.hasOwn(table, key))
}

export const textKey = (kind: TextKind, anchor: string): string | undefined => keyIn(TEXTS.en, anchor, `${kind}.`)

const textOf = (kind: TextKind, anchor: string, locale: Locale): string | undefined =>
  TEXTS[locale][textKey(kind, anchor) ?? '']

/** Throws if there is none (a test covers all fields). */
export function meaningOf(anchor: string, locale: Locale): string {
  const text = textOf('meaning', anchor, locale)
  if (text === undefined) throw new Error(`the field ${anchor} has no meaning in views/locales/fields.${locale}.json`)
  return text
}

/** The meaning of each value of an enumeration; empty for other fields. */
export const valueMeaningsOf = (anchor: string, values: SchemaField['values'], locale: Locale) =>
  values.flatMap((value) => {
    const meaning = textOf('value', `${anchor}.${value}`, locale)
    return meaning === undefined ? [] : [{ value: String(value), meaning }]
  })

export const conditionOf = (anchor: string, locale: Locale): string => textOf('when', anchor, locale) ?? ''

export const exampleFor = (anchor: string): unknown => EXAMPLES[keyIn(EXAMPLES, anchor) ?? '']

/** What a code or a state means, in the reader's language. */
export const translated = (english: string, locale: Locale): string =>
  locale === 'en' ? english : (CODES_AND_STATES[english] ?? english)

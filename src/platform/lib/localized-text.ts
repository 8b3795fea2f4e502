import { z } from 'zod'
import type english from '../../../views/locales/reasons.en.json'
import { readTexts } from './root.ts'
import { storableJson, storableText } from './storable.ts'

/**
 * Messages about calls, inputs and checks are thrown and stored as an id and values, and put into words where somebody
 * reads them: in views/locales/reasons.en.json, whose texts go over the wire, or reasons.zh-CN.json.
 */
export const TEXTS = readTexts<keyof typeof english>('reasons.en')
export type TextId = keyof typeof TEXTS

/** JSON answers and log lines have its English, pages the reader's language, and `storedJson` keeps id and values. */
export class LocalizedText<Id extends TextId = TextId> {
  readonly id: Id
  readonly values: Readonly<Record<string, Detail>>

  constructor(id: Id, values: LocalizedText['values']) {
    this.id = id
    this.values = values
  }

  toString(): string {
    return filled(this, TEXTS[this.id], String)
  }

  toJSON(): string {
    return this.toString()
  }
}

/** A value as it came over the wire, or a text. */
export type Detail = string | LocalizedText

type Value = Detail | number | bigint

/** The text with this id and exactly the values that its placeholders name (a test compares them at each call). */
export const localized = <Id extends TextId>(
  id: Id,
  values: Readonly<Record<string, Value>> = {},
): LocalizedText<Id> => {
  const shown = Object.entries(values).map(([name, value]) => [name, typeof value === 'object' ? value : String(value)])
  return new LocalizedText(id, Object.fromEntries(shown))
}

/** `a; b; c`, of at least one text. */
export const joined = (texts: readonly LocalizedText[]): LocalizedText =>
  texts.reduceRight((rest, problem) => localized('several', { problem, rest }))

/** `a or b or c`, `a and b`, `a and a b`. */
export const listed = (as: 'either' | 'both' | 'and-a', values: readonly Detail[]): Detail =>
  values.reduceRight((others, value) => localized(as, { value, others }))

/** The words with the values filled in; without words, for an id that only a newer process knows, the values alone. */
export function filled(
  { values }: LocalizedText,
  words: string | undefined,
  show: (value: Detail, name: string) => string,
) {
  if (words === undefined)
    return Object.entries(values)
      .map(([name, value]) => show(value, name))
      .join(', ')
  if (!words.includes('{')) return words
  return words.replace(/\{(\w+)\}/g, (_, name: string) => show(values[name] ?? '', name))
}

/** Maps each value by `change`; a plain string has the name ''. */
export function withValues<Given extends Detail>(detail: Given, change: (value: string, name: string) => string): Given
export function withValues(detail: Detail, change: (value: string, name: string) => string, name = ''): Detail {
  if (typeof detail === 'string') return change(detail, name)
  const changed = Object.entries(detail.values).map(([key, value]) => [key, inside(value, change, key)])
  return new LocalizedText(detail.id, Object.fromEntries(changed))
}
const inside = withValues as (detail: Detail, change: (value: string, name: string) => string, name: string) => Detail

/** The stored form. Accepts ids that only a newer process knows. */
export const storedText: z.ZodType<LocalizedText> = z
  .object({
    id: z.custom<TextId>((id) => typeof id === 'string'),
    get values() {
      return z.record(z.string(), storedDetail)
    },
  })
  .transform(({ id, values }) => new LocalizedText(id, values))
export const storedDetail: z.ZodType<Detail> = z.union([
  z.string(),
  // By a function, since zod compiles no recursive schema (compiled.ts).
  z.unknown().transform((value, context) => {
    const { data, error } = storedText.safeParse(value)
    if (error) context.issues.push({ code: 'custom', input: value, message: error.message })
    return data ?? z.NEVER
  }),
])

export const storable = (detail: Detail | null): string | null => (detail === null ? null : storedJson(detail))

/** JSON for a jsonb column, with texts as ids and values; without U+0000 and lone surrogates. */
export const storedJson = (value: unknown): string =>
  holdsText(value)
    ? JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, name, given) {
        const held = this[name]
        if (held instanceof LocalizedText) return { id: held.id, values: held.values }
        return typeof given === 'string' ? storableText(given) : given
      })
    : storableJson(value)

/** Looked for first, since every notice stores changes, and JSON.stringify with a function takes three times as long. */
const holdsText = (value: unknown): boolean =>
  value instanceof LocalizedText ||
  (typeof value === 'object' && value !== null && Object.values(value).some(holdsText))

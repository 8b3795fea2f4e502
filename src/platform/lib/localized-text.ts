import { z } from 'zod'
import { FINDINGS } from './finding-texts.ts'
import { FIELD_PROBLEMS } from './json/field-texts.ts'
import { REASONS } from './reasons.ts'
import { REFUSALS } from './refusals.ts'
import { storableText } from './storable.ts'

/**
 * What the platform says of calls, inputs and checks: thrown and stored as an id and values, worded where somebody reads it. The
 * English of an id is here and goes over the wire; its Chinese is in views/locales/reasons.zh-CN.json.
 */
export const TEXTS = { ...FIELD_PROBLEMS, ...REASONS, ...REFUSALS, ...FINDINGS }
export type TextId = keyof typeof TEXTS

/**
 * A text and the values that its words leave open. Answers in JSON and log lines show its English; a page words it for its
 * reader, and `storedJson` keeps it as it is.
 */
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

/** A value as it came over the wire, or words. */
export type Detail = string | LocalizedText

type Value = Detail | number | bigint
type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never
type ValuesOf<Id extends TextId> = Readonly<Record<NamesIn<(typeof TEXTS)[Id]>, Value>>

/** The text of this id with exactly the values that its words name. */
export const localized = <Id extends TextId>(
  id: Id,
  ...[values]: [NamesIn<(typeof TEXTS)[Id]>] extends [never] ? [] : [values: ValuesOf<Id>]
): LocalizedText<Id> =>
  new LocalizedText(
    id,
    Object.fromEntries(
      Object.entries<Value>(values ?? {}).map(([name, value]) => [
        name,
        typeof value === 'object' ? value : String(value),
      ]),
    ),
  )

/** `a or b or c`, `a and b`, `a and a b`. */
export const listed = (as: 'either' | 'both' | 'and-a', values: readonly Detail[]): Detail =>
  values.reduceRight((others, value) => localized(as, { value, others }))

/** The words of a text with its values in them; of an id that only a newer process knows, its values. */
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

/** Changes each value by `change`, and a text that has no id, whose name is ''. */
export function withValues<Given extends Detail>(detail: Given, change: (value: string, name: string) => string): Given
export function withValues(detail: Detail, change: (value: string, name: string) => string, name = ''): Detail {
  if (typeof detail === 'string') return change(detail, name)
  const changed = Object.entries(detail.values).map(([key, value]) => [key, inside(value, change, key)])
  return new LocalizedText(detail.id, Object.fromEntries(changed))
}
const inside = withValues as (detail: Detail, change: (value: string, name: string) => string, name: string) => Detail

/** As it is stored. Ids that a newer process has stored stay, though no type names them. */
export const storedText: z.ZodType<LocalizedText> = z
  .object({
    id: z.custom<TextId>((id) => typeof id === 'string'),
    get values() {
      return z.record(z.string(), storedDetail)
    },
  })
  .transform(({ id, values }) => new LocalizedText(id, values))
export const storedDetail: z.ZodType<Detail> = z.union([z.string(), storedText])

/** A detail for a column of jsonb. */
export const storable = (detail: Detail | null): string | null => (detail === null ? null : storedJson(detail))

/** JSON for a column of jsonb, with ids and values of texts; without U+0000 and halves of surrogate pairs. */
export const storedJson = (value: unknown): string =>
  JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, name, given) {
    const held = this[name]
    if (held instanceof LocalizedText) return { id: held.id, values: held.values }
    return typeof given === 'string' ? storableText(given) : given
  })

/** The fields of notices and interfaces (REFERENCE "Payloads"). `wire`: what the JSON holds, for the reference. */

import { z } from 'zod'
import { utcDate } from '../clock.ts'
import { type LocalizedText, localized } from '../localized-text.ts'
import { isStorable } from '../storable.ts'
import { asMessage, problem, REQUIRED } from './field-problem.ts'

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n }

/** An integer that a JSON number holds exactly. Others match no option of the union, whose own message then applies. */
const exactNumber = z.number().refine(Number.isSafeInteger, { abort: true }).meta({ type: 'integer', format: 'int64' })

/** Undefined for a text that is not an integer. */
const exactInteger = (value: number | bigint | string): bigint | undefined =>
  typeof value === 'string' && !/^-?\d{1,20}$/.test(value) ? undefined : BigInt(value)

/** A schema for an integer from `min` to `max`, as number or numeric text, whose output is `convert`ed. */
const integer = <Out>(min: bigint, max: bigint, wrong: LocalizedText, convert: (integer: bigint) => Out) =>
  z
    .union([exactNumber, z.bigint(), z.string()], {
      error: ({ input }) => ({ message: asMessage(input === undefined ? REQUIRED : wrong) }),
    })
    .transform((value, context): Out => {
      const exact = exactInteger(value)
      if (exact !== undefined && exact >= min && exact <= max) return convert(exact)
      context.addIssue({ code: 'custom', message: asMessage(wrong) })
      return z.NEVER
    })

/** A 64-bit id, as number or numeric text; outputs a `bigint`. */
export const int64 = () =>
  integer(INT64.min, INT64.max, localized('must-be-bits', { bits: 64 }), BigInt).meta({ wire: 'int64' })

/** Id of a partner or an order: 1 or more. */
export const positiveId = int64().refine((id) => id > 0n, problem('must-be-at-least', { least: 1 }))

/** A 32-bit count, code or state, as number or numeric text; outputs a `number`. */
export const smallInt = (wrong: LocalizedText = localized('must-be-bits', { bits: 32 })) =>
  integer(INT32.min, INT32.max, wrong, Number).meta({ wire: 'int' })

/** Digits as number or text (a PartnerId); outputs text without leading zeros, so that `7001` and `"7001"` are equal. */
export const numericText = () => integer(0n, INT64.max, localized('must-be-digits'), String).meta({ wire: 'digits' })

/** A field that a partner may leave out; null and empty text count as absent, since many clients send them. */
export const maybe = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === null || value === '' ? undefined : value), schema.optional()).optional()

/** A text for people, which decides nothing: a number becomes its digits, and anything else counts as absent. */
export const remark = () => z.preprocess(filledText, z.string().optional()).optional()

/** A text that is not empty, or the digits of a number. `String()` throws for some of what JSON can hold. */
export const filledText = (value: unknown): string | undefined =>
  (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : undefined

export const text = () => z.string().min(1, problem('must-be-filled'))

/** A text that PostgreSQL can store, at most 255 characters. */
export const storable = text().max(255).refine(isStorable, problem('must-have-no-nul'))

/** A text of our requests, "" if there is none: some programs fail if the field is missing. */
export const sentText = () => z.string().default('')

/** Omitted when empty, since some older programs fail on it (REFERENCE "Which fields our requests have"). */
export const sentUnlessEmpty = <Schema extends z.ZodType<string | readonly unknown[]>>(schema: Schema) =>
  schema.optional().transform((value) => (value?.length ? value : undefined))

/** A text id. Some clients send it as a number, which must be exact. */
export const idText = () =>
  z
    .union([z.string(), exactNumber, z.bigint()], problem('must-be-text'))
    .transform(String)
    .pipe(
      z
        .string()
        .min(1, problem('must-be-filled'))
        .max(255, problem('must-have-characters', { most: 255 })),
    )
    .meta({ wire: 'id' })

/** One of a few small numbers, as number or numeric text. */
export const oneOf = <const Values extends readonly [number, ...number[]]>(...values: Values) =>
  smallInt(localized('must-be-one-of', { values: values.join(', ') })).pipe(z.literal(values))

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** A boolean, as such, as text, or as 0 or 1; anything else counts as absent. */
export const yesOrNo = () =>
  z
    .preprocess(
      (value) => (typeof value === 'object' ? undefined : BOOLEANS.get(String(value).toLowerCase())),
      z.boolean().optional(),
    )
    .meta({ wire: 'boolean' })

const CALENDAR = /^(\d{4})-(\d\d)-(\d\d)$/
const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/

function isCalendarDay(value: string): boolean {
  const [, year, month, day] = CALENDAR.exec(value) ?? []
  if (day === undefined) return false
  return utcDate(Number(year), Number(month), Number(day)).toISOString().startsWith(value)
}

export const date = () =>
  z.string(problem('must-be-date')).refine(isCalendarDay, problem('must-be-date')).meta({ wire: 'date' })

/** A date of a request; "" where there is none. */
export const sentDate = () => date().or(z.literal('')).meta({ wire: 'date' }).default('')

/** Beijing local time, `yyyy-MM-dd HH:mm:ss`, kept as text. */
export const dateTime = () =>
  z
    .string(problem('must-be-time'))
    .refine((value) => {
      const [day = '', time = '', ...rest] = value.split(' ')
      return rest.length === 0 && isCalendarDay(day) && time.length === 8 && TIME_OF_DAY.test(time)
    }, problem('must-be-time'))
    .meta({ wire: 'datetime' })

export const timeOfDay = () =>
  z
    .string(problem('must-be-time-of-day'))
    .refine((value) => value.length === 5 && TIME_OF_DAY.test(value), problem('must-be-time-of-day'))
    .meta({ wire: 'time' })

const PRICE = /^-?\d{1,10}(\.\d{1,2}0*)?$/

/** Yuan with at most two decimals, as number or numeric text; outputs a `number` (exact: far below 2^53 fen). */
export const price = () =>
  z
    .union([z.number(), z.string(), z.bigint()], problem('must-be-price'))
    .transform(String)
    .refine((value) => PRICE.test(value), problem('must-be-price'))
    .transform(Number)
    .meta({ wire: 'price' })

/** A price that somebody pays or is paid; negative ones exist only where the contract gives them a meaning. */
export const amount = () =>
  price()
    .refine((value) => value >= 0, problem('must-not-be-negative'))
    .meta({ wire: 'price', least: 0 })

const UNLIMITED = -1
const UNLIMITED_IN_THE_FIELD = [999_999, 100_000_000]

/** Tickets left; -1 is unlimited, and partners also send 999999 or 100000000 for that. */
export const stock = () =>
  smallInt()
    .refine((count) => count >= UNLIMITED, problem('must-be-stock'))
    .transform((count) => (UNLIMITED_IN_THE_FIELD.includes(count) ? UNLIMITED : count))
    .meta({ wire: 'stock' })

export const isPayable = (yuan: number): boolean => yuan >= 0 && yuan < 100_000_000

/** What an order or refund costs. */
export const money = price().refine(isPayable, problem('must-be-payable'))

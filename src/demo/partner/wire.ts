import { parse, stringify } from 'lossless-json'

/**
 * Order ids are 64-bit integers, and JSON.parse rounds them from 2^53 on: 8985652356562370001 becomes
 * 8985652356562370000, which is another order. So larger integers are read as bigint and written as plain JSON numbers.
 */
const readNumber = (text: string): number | bigint => {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text)
}

/** Throws SyntaxError for text that is not JSON. */
export const readJson = (text: string): unknown => parse(text, null, readNumber)

export const writeJson = (value: object): string => stringify(value) ?? ''

/** An interface's answer; by default code 200 and `success`. partnerId is added to all. */
export interface Answer {
  readonly code?: number
  readonly describe?: string
  readonly body?: unknown
  /** Some interfaces have fields beside `body`. */
  readonly totalSize?: number
  readonly partnerDealId?: string
}

/** A failure for the platform to read. Without a code, the interface's code for malformed requests is used. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: number | undefined

  constructor(describe: string, code?: number) {
    super(describe)
    this.code = code
  }
}

/** Ends an interface call with a code of the payload page; `describe` is for people. */
export function refuse(code: number, describe: string): never {
  throw new Refusal(describe, code)
}

/** Times on the wire are Beijing time without a zone, whatever the machine's time zone. */

const DAY_MS = 24 * 60 * 60 * 1000

// Swedish writes dates and times as the platform does: 2026-05-06 18:34:20.
const beijing = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Asia/Shanghai',
  dateStyle: 'short',
  timeStyle: 'medium',
})
const calendar = new Intl.DateTimeFormat('sv-SE', { timeZone: 'UTC' })

/** `yyyy-MM-dd HH:mm:ss` */
export const beijingTime = (at: Date): string => beijing.format(at)

/** `yyyy-MM-dd` */
export const beijingDate = (at: Date): string => beijingTime(at).slice(0, 10)

export const daysAfter = (date: string, days: number): string => calendar.format(Date.parse(date) + days * DAY_MS)

/** Whether a text is an existing day; 30 February is not. */
const isDate = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && daysAfter(text, 0) === text

/** Saturday or Sunday; the epoch began on a Thursday. */
export const isWeekend = (date: string): boolean => [2, 3].includes((Date.parse(date) / DAY_MS) % 7)

/** Readers for the fields of a request. Errors name the field. */

export type Fields = Readonly<Record<string, unknown>>

function wrong(name: string, mustBe: string): never {
  throw new Refusal(`${name} must be ${mustBe}`)
}

export function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(name, 'an object')
  return value as Fields
}

/** Null and empty text count as absent. */
export const has = (fields: Fields, name: string): boolean => !['', null, undefined].includes(fields[name] as '')

export function text(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value !== '' ? value : wrong(name, 'a text')
}

/** A 64-bit id, as number or as text. */
export function int64(fields: Fields, name: string): bigint {
  const value = fields[name]
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return BigInt(value as number)
  return typeof value === 'string' && /^\d{1,19}$/.test(value) ? BigInt(value) : wrong(name, 'a 64-bit integer')
}

/** A small whole number, as number or as text. */
export function whole(fields: Fields, name: string): number {
  const value = has(fields, name) ? Number(fields[name]) : Number.NaN
  return Number.isSafeInteger(value) ? value : wrong(name, 'a whole number')
}

export const positive = (fields: Fields, name: string): number => {
  const value = whole(fields, name)
  return value >= 1 ? value : wrong(name, 'at least 1')
}

/** A price in yuan, as cents: never compare or add money in fractions. */
export function cents(fields: Fields, name: string): number {
  const yuan = has(fields, name) ? Number(fields[name]) : Number.NaN
  return Number.isFinite(yuan) ? Math.round(yuan * 100) : wrong(name, 'a price in yuan')
}

export function date(fields: Fields, name: string): string {
  const value = text(fields, name)
  return isDate(value) ? value : wrong(name, 'a date, yyyy-MM-dd')
}

/** An optional list. */
export function list(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name] ?? []
  return Array.isArray(value) ? value : wrong(name, 'a list')
}

export const texts = (fields: Fields, name: string): string[] => list(fields, name).map(String)

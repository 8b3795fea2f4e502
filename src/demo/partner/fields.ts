import { Refusal } from './answer.ts'
import { isDate } from './time.ts'

/** Reading the fields of a request. Errors name the field, so that a mistake is found without asking. */

export type Fields = Readonly<Record<string, unknown>>

function wrong(name: string, mustBe: string): never {
  throw new Refusal(`${name} must be ${mustBe}`)
}

export function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(name, 'an object')
  return value as Fields
}

/** Null and empty text count as left out. */
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

/** A price in yuan, as cents: money is never compared or added up in fractions. */
export function cents(fields: Fields, name: string): number {
  const yuan = has(fields, name) ? Number(fields[name]) : Number.NaN
  return Number.isFinite(yuan) ? Math.round(yuan * 100) : wrong(name, 'a price in yuan')
}

export function date(fields: Fields, name: string): string {
  const value = text(fields, name)
  return isDate(value) ? value : wrong(name, 'a date, yyyy-MM-dd')
}

/** A list that may be left out. */
export function list(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name] ?? []
  return Array.isArray(value) ? value : wrong(name, 'a list')
}

export const texts = (fields: Fields, name: string): string[] => list(fields, name).map(String)

import type { Deps } from '../deps.ts'
import { findByPassport, findByPhone, type PersonRow } from './person-store.ts'

/** Somebody who was found by what support is told; the phone number with its last four digits alone. */
export interface FoundPerson extends Omit<PersonRow, 'phone_number'> {
  readonly phone_number: string | null
}

const LAST_DIGITS = 4

const masked = (phone: string | null): string | null =>
  phone === null ? null : `${'*'.repeat(Math.max(0, phone.length - LAST_DIGITS))}${phone.slice(-LAST_DIGITS)}`

/** Those with this passport or phone number; a number with and without its leading +. */
export async function findPeople({ db }: Deps, text: string, limit: number): Promise<FoundPerson[]> {
  if (text.includes('\0')) return []
  const digits = text.replace(/^\+/, '')
  const byPhone = /^\d{5,20}$/.test(digits) ? await findByPhone(db, [digits, `+${digits}`], limit) : []
  const found = [...(await findByPassport(db, text)), ...byPhone]
  const unique = new Map(found.map((person) => [`${person.cid} ${person.user_id}`, person]))
  return [...unique.values()].map((person) => ({ ...person, phone_number: masked(person.phone_number) }))
}

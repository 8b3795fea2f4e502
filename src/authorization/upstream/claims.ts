import { z } from 'zod'
import type { Config } from '../../platform/config/index.ts'
import { shownName, visibleLine } from '../../platform/lib/json/input.ts'
import { webUrl } from '../../platform/lib/web/web-url.ts'
import { UpstreamFailure } from './failures.ts'

/** The person whom the provider's claims name. Claims that are missing or unusable are undefined. */
export type UpstreamPerson = ReturnType<typeof personOf>

export type Claims = Readonly<Record<string, unknown>>

const read = <T>(schema: z.ZodType<T>, value: unknown): T | undefined => schema.safeParse(value).data

const WHOLE = /^(0|[1-9]\d*)$/
/** Refuses other spellings of the same number (`01`, `1e3`), and numbers that JSON has rounded. */
const cidOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && WHOLE.test(value) ? Number(value) : value
  return read(z.int().min(0).max(2_147_483_647), number)
}

const userIdOf = (value: unknown): string | undefined => {
  const text = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : value
  const line = read(visibleLine(128), text)
  return line === text ? line : undefined // not trimmed: the id without the space could be another person's
}

const NAME = shownName(100)
const PASSPORT = visibleLine(128)
const PHONE = /^\+?\d{5,20}$/

/** `+86 138-0000-0001` in the stored form; undefined if the provider says that it is not verified. */
function phoneOf(phone_number: unknown, verified: unknown): string | undefined {
  if (typeof phone_number !== 'string' || verified === false || verified === 'false') return undefined
  const plain = phone_number.replace(/[ ().-]/g, '')
  return PHONE.test(plain) ? plain : undefined
}

/** Passports like `7-4711` and `7.…` are generated for newcomers without a preferred one (subjectOf). */
const GENERATED = /^\d+[-.]/

/** A mail address counts only if the provider has verified it, since mails about the account go there. */
function passportOf(own: (name: string) => unknown): string | undefined {
  const preferred = read(PASSPORT, own('preferred_username'))
  if (preferred === undefined || GENERATED.test(preferred)) return undefined
  const isVerified = [true, 'true'].some((yes) => own('email_verified') === yes) && own('email') === preferred
  return preferred.includes('@') && !isVerified ? undefined : preferred
}

type Named = Pick<Config, 'UPSTREAM_CID' | 'UPSTREAM_USER_ID'>

/** Throws UpstreamFailure if the claims that identify a person are missing or malformed. */
export function personOf(claims: Claims, { UPSTREAM_CID = '', UPSTREAM_USER_ID }: Named) {
  const own = (name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)
  const required = <T>(name: string, value: unknown, parse: (value: unknown) => T | undefined): T => {
    const found = parse(value)
    if (found !== undefined) return found
    const problem = value === undefined ? 'is missing' : `is no ${name === UPSTREAM_CID ? 'cid' : 'user_id'}`
    throw new UpstreamFailure('unnamed', `claim ${name} ${problem} (${typeof value})`)
  }
  const gender = own('gender')
  return {
    cid: required(UPSTREAM_CID, WHOLE.test(UPSTREAM_CID) ? UPSTREAM_CID : own(UPSTREAM_CID), cidOf),
    user_id: required(UPSTREAM_USER_ID, own(UPSTREAM_USER_ID), userIdOf),
    preferredUsername: passportOf(own),
    profile: {
      name: read(NAME, own('name')),
      gender: gender === 'male' ? ('1' as const) : gender === 'female' ? ('2' as const) : undefined,
      big_avatar_url: read(webUrl, own('picture')),
      phone_number: phoneOf(own('phone_number'), own('phone_number_verified')),
    },
  }
}

const shortText = visibleLine(200)

/** How the person authenticated at the provider (OIDC Core §2). */
export const acrAndAmr = (claims: Claims): { readonly acr: string | null; readonly amr: readonly string[] } => ({
  acr: read(shortText, claims.acr) ?? null,
  amr: read(z.array(shortText).max(20), claims.amr) ?? [],
})

import { z } from 'zod'
import type { Config } from '../../platform/config/index.ts'
import { visibleLine } from '../../platform/lib/json/input.ts'
import { webUrl } from '../../platform/lib/web/web-url.ts'
import { UpstreamFailure } from './failures.ts'

/** Whom the provider means, and what it says of them; what it does not say, or says in a way that nobody can use, is undefined. */
export interface UpstreamPerson {
  readonly cid: number
  readonly user_id: string
  readonly preferredUsername: string | undefined
  readonly profile: {
    readonly name: string | undefined
    readonly gender: '1' | '2' | undefined
    readonly big_avatar_url: string | undefined
    readonly phone_number: string | undefined
  }
}

export type Claims = Readonly<Record<string, unknown>>

const WHOLE = /^(0|[1-9]\d*)$/
/** What else could stand for the same number (`01`, `1e3`) is refused, as is what JSON has rounded. */
const cidOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && WHOLE.test(value) ? Number(value) : value
  return z.int().min(0).max(2_147_483_647).safeParse(number).data
}

const userIdOf = (value: unknown): string | undefined => {
  const text = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : value
  const read = visibleLine(128).safeParse(text).data
  return read === text ? read : undefined // not trimmed: another person could have the name without the space
}

const MOST_CLAIMS_SHOWN = 100
const NAME = visibleLine(MOST_CLAIMS_SHOWN)
const PASSPORT = visibleLine(128)
const PHONE = /^\+?\d{5,20}$/

const shown = <T>(schema: z.ZodType<T>, value: unknown): T | undefined => schema.safeParse(value).data

/** `+86 138-0000-0001` as it is kept; none of which the provider says that nobody has verified it. */
function phoneOf(phone_number: unknown, verified: unknown): string | undefined {
  if (typeof phone_number !== 'string' || verified === false || verified === 'false') return undefined
  const plain = phone_number.replace(/[ ().-]/g, '')
  return PHONE.test(plain) ? plain : undefined
}

/** `7-4711` and `7.…` are what newcomers get who wish for no passport (subjectOf). */
const OF_A_NEWCOMER = /^\d+[-.]/

/** A mail address only of whom the provider has verified it: mails about the account go there. */
function passportOf(own: (name: string) => unknown): string | undefined {
  const wished = shown(PASSPORT, own('preferred_username'))
  if (wished === undefined || OF_A_NEWCOMER.test(wished)) return undefined
  const isTheirs = own('email_verified') === true && own('email') === wished
  return wished.includes('@') && !isTheirs ? undefined : wished
}

type Named = Pick<Config, 'UPSTREAM_CID' | 'UPSTREAM_USER_ID'>

/** Throws UpstreamFailure where the claims that are to name a person are missing or say something else. */
export function personOf(claims: Claims, { UPSTREAM_CID = '', UPSTREAM_USER_ID }: Named): UpstreamPerson {
  const own = (name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)
  const named = <T>(name: string, value: unknown, read: (value: unknown) => T | undefined): T => {
    const found = read(value)
    if (found !== undefined) return found
    const problem = value === undefined ? 'is missing' : `is no ${name === UPSTREAM_CID ? 'cid' : 'user_id'}`
    throw new UpstreamFailure('unnamed', `claim ${name} ${problem} (${typeof value})`)
  }
  const gender = own('gender')
  return {
    cid: named(UPSTREAM_CID, WHOLE.test(UPSTREAM_CID) ? UPSTREAM_CID : own(UPSTREAM_CID), cidOf),
    user_id: named(UPSTREAM_USER_ID, own(UPSTREAM_USER_ID), userIdOf),
    preferredUsername: passportOf(own),
    profile: {
      name: shown(NAME, own('name')),
      gender: gender === 'male' ? '1' : gender === 'female' ? '2' : undefined,
      big_avatar_url: shown(webUrl, own('picture')),
      phone_number: phoneOf(own('phone_number'), own('phone_number_verified')),
    },
  }
}

const aShortText = visibleLine(200)

/** How the person was recognized, as the provider says (OIDC Core §2). */
export const howOf = (claims: Claims): { readonly acr: string | null; readonly amr: readonly string[] } => ({
  acr: aShortText.safeParse(claims.acr).data ?? null,
  amr: z.array(aShortText).max(20).safeParse(claims.amr).data ?? [],
})

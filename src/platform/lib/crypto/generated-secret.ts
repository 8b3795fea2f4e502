import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { DAY_S, HOUR_S } from '../clock.ts'

/**
 * Secrets that we issue: `<prefix>_`, 43 characters of base62 (256 random bits) and 6 of a CRC-32, like GitHub's
 * tokens. So scanners find them in code and logs, and a mistyped one is told from a wrong one without the database.
 * Percent-encoding leaves them unchanged.
 */

const PREFIXES = { ghas: 'app_secret', ghcs: 'clientSecret' } as const
type SecretPrefix = keyof typeof PREFIXES

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_DIGITS = 43
const CHECK_DIGITS = 6

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text
  return text
}

/** Over prefix and random digits, so that neither can be changed alone. */
const checksum = (text: string): string => base62(BigInt(crc32(text)), CHECK_DIGITS)

/** Random base62 digits, for secrets whose format is not ours. */
export const randomDigits = (length: number): string =>
  base62(BigInt(`0x${randomBytes(length).toString('hex')}`), length)

export function generateSecret(prefix: SecretPrefix): string {
  const text = `${prefix}_${randomDigits(RANDOM_DIGITS)}`
  return text + checksum(text)
}

/** In the format of Standard Webhooks: prefix and Base64 of the key, here 192 random bits. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(24).toString('base64')}`

export type SecretCheck =
  | { readonly kind: (typeof PREFIXES)[SecretPrefix]; readonly verdict: 'intact' | 'mistyped' }
  | { readonly verdict: 'unknown' }

/** What a text is, judged by its form alone; secrets not issued by us are unknown. */
export function checkSecret(text: string): SecretCheck {
  const [, prefix, rest = ''] = /^(ghas|ghcs)_?(.*)$/s.exec(text.trim()) ?? []
  if (prefix !== 'ghas' && prefix !== 'ghcs') return { verdict: 'unknown' }
  const random = rest.slice(0, RANDOM_DIGITS)
  const intact = text === `${prefix}_${random}${checksum(`${prefix}_${random}`)}` && random.length === RANDOM_DIGITS
  return { kind: PREFIXES[prefix], verdict: intact ? 'intact' : 'mistyped' }
}

/** How long the old secret keeps working after a rotation: seconds, at most 30 days. */
export const rotation = z.strictObject({
  overlap_s: z.int().min(0).max(2_592_000).default(86_400).meta({ flag: 'overlap' }),
})
export type SecretRotation = z.output<typeof rotation>

/** The overlaps that a page offers, as text; anything else counts as the default of a day. */
export const offeredOverlap = z
  .literal([0, HOUR_S, DAY_S, 7 * DAY_S].map(String))
  .transform(Number)
  .catch(DAY_S)

/** What an operator sees of a live secret; the secret itself is not kept. */
export interface SecretDates {
  readonly created_at: Date
  /** Null: until it is rotated. */
  readonly ends_at: Date | null
  /** To the minute; null: never. */
  readonly last_used_at: Date | null
}

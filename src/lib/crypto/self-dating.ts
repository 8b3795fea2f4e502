import { timingSafeEqual } from 'node:crypto'
import { epochSeconds, fromEpochSeconds } from '../clock.ts'
import { hmacSha256 } from './digest.ts'
import type { Keys } from './keys.ts'
import { randomBytes } from './random.ts'

/**
 * Text of the form `<prefix>_<base64url(routing key 2 B, expiry 4 B, random 21 B)><base64url(MAC 9 B)>`.
 *
 * The MAC lets a forged or mistyped one be refused without the database; the expiry lets an expired one still be told
 * from an unknown one after its row has been purged. 27 and 9 bytes end on base64url borders, so no bit is slack and
 * each value has exactly one spelling.
 *
 * One HMAC-SHA256 makes both: its first 9 bytes are the MAC, all 32 of them the only form in which the text is stored.
 */
const RANDOM_BYTES = 21
const PAYLOAD_BYTES = 6 + RANDOM_BYTES
const MAC_BYTES = 9
const BODY = /^[A-Za-z0-9_-]{48}$/

/** Prefixes differ, so a refresh token can never pass for an access token. */
export const PREFIX = {
  accessToken: 'ghat',
  refreshToken: 'ghrt',
  authorizationCode: 'ghac',
  browserSession: 'ghbs',
  sandboxSession: 'ghss',
} as const

export type Prefix = (typeof PREFIX)[keyof typeof PREFIX]

/** One of ours, minted just now or presented by somebody. */
export interface SelfDating {
  /** What its bearer holds; a secret. */
  readonly text: string
  /** What is stored: 32 bytes that tell the text's MAC, and nothing of its random bits. */
  readonly hash: Buffer
  /** 0 to 65535; leads the primary key of every row about the same user. */
  readonly routingKey: number
  /** A whole second. */
  readonly expiresAt: Date
}

export interface Minting extends Pick<SelfDating, 'routingKey' | 'expiresAt'> {
  readonly prefix: Prefix
  /** 21 bytes; random unless the same value must come out again for the same request. */
  readonly random?: Buffer
  /** Who may present it (an app_key); mixed into the MAC, so anybody else's call fails without the database. */
  readonly bearer?: string
}

const hashOf = (keys: Keys, prefix: Prefix, bearer: string, payload: Buffer): Buffer =>
  hmacSha256(keys.token, `${prefix}\n${bearer}\n`, payload)

export function mint(keys: Keys, { prefix, routingKey, expiresAt, random, bearer = '' }: Minting): SelfDating {
  const payload = Buffer.allocUnsafe(PAYLOAD_BYTES) // filled to the last byte below
  payload.writeUInt16BE(routingKey, 0)
  const seconds = epochSeconds(expiresAt)
  payload.writeUInt32BE(seconds, 2)
  const unpredictable = random ?? randomBytes(RANDOM_BYTES)
  unpredictable.copy(payload, 6, 0, RANDOM_BYTES)
  const hash = hashOf(keys, prefix, bearer, payload)
  const body = Buffer.concat([payload, hash.subarray(0, MAC_BYTES)])
  return { text: `${prefix}_${body.toString('base64url')}`, hash, routingKey, expiresAt: fromEpochSeconds(seconds) }
}

/** Null for anything that this server did not mint under that prefix (and for that bearer). */
export function readSelfDating(keys: Keys, prefix: Prefix, text: string, bearer = ''): SelfDating | null {
  if (!text.startsWith(`${prefix}_`)) return null
  const body = text.slice(prefix.length + 1)
  if (!BODY.test(body)) return null
  const bytes = Buffer.from(body, 'base64url')
  const payload = bytes.subarray(0, PAYLOAD_BYTES)
  const hash = hashOf(keys, prefix, bearer, payload)
  if (!timingSafeEqual(bytes.subarray(PAYLOAD_BYTES), hash.subarray(0, MAC_BYTES))) return null
  return { text, hash, routingKey: payload.readUInt16BE(0), expiresAt: fromEpochSeconds(payload.readUInt32BE(2)) }
}

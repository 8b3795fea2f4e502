import { randomFillSync, timingSafeEqual } from 'node:crypto'
import { epochSeconds, fromEpochSeconds } from '../clock.ts'
import { hmacSha256 } from './digest.ts'
import type { DerivedKeys, Keys } from './keys.ts'

/**
 * Tokens, codes and session ids: opaque to whoever holds them (RFC 6749, section 1.4). The text is
 * `<prefix>_<base64url(routing key 2 B, expiry 4 B, random 21 B)><base64url(MAC 9 B)>`.
 *
 * The MAC lets a forged or mistyped token be refused without the database. The expiry lets an expired token be answered as
 * expired, not as unknown, after its row has been purged. 27 and 9 bytes are whole groups of Base64, so each token has
 * exactly one spelling.
 *
 * One HMAC-SHA256 makes both the MAC (its first 9 bytes) and the hash that is stored (all 32).
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
  memberLink: 'ghml',
  teamLink: 'ghtl',
  passwordLink: 'ghpl',
  passkeyChallenge: 'ghpc',
  sharedRun: 'ghsr',
  operatorToken: 'ghop',
  operatorSession: 'ghos',
  adminTokenSession: 'ghof',
} as const

export type Prefix = (typeof PREFIX)[keyof typeof PREFIX]

/** A token that this service has issued: just now, or earlier and presented again. */
export interface OpaqueToken {
  /** What the caller holds; a secret. */
  readonly text: string
  /** 32 bytes, the only form that is stored. The MAC can be computed from it, the random bits cannot. */
  readonly hash: Buffer
  /** 0 to 65535; leads the primary key of every row about the same user. */
  readonly routingKey: number
  /** A whole second. */
  readonly expiresAt: Date
}

export interface NewOpaqueToken extends Pick<OpaqueToken, 'routingKey' | 'expiresAt'> {
  readonly prefix: Prefix
  /** 21 bytes of it are used; random unless the same value must come out again for the same request. */
  readonly random?: Buffer
  /** Who alone may present it (an app_key); mixed into the MAC, so a call of anybody else fails without the database. */
  readonly boundTo?: string
}

const hashOf = (keys: DerivedKeys, prefix: Prefix, boundTo: string, payload: Buffer): Buffer =>
  hmacSha256(keys.token, `${prefix}\n${boundTo}\n`, payload)

const isMac = (mac: Buffer, hash: Buffer): boolean => timingSafeEqual(mac, hash.subarray(0, MAC_BYTES))

export function issueToken(
  keys: DerivedKeys,
  { prefix, routingKey, expiresAt, random, boundTo = '' }: NewOpaqueToken,
): OpaqueToken {
  const payload = Buffer.allocUnsafe(PAYLOAD_BYTES) // filled to the last byte below
  payload.writeUInt16BE(routingKey, 0)
  const seconds = epochSeconds(expiresAt)
  payload.writeUInt32BE(seconds, 2)
  const unpredictable = random ?? randomBytes(RANDOM_BYTES)
  unpredictable.copy(payload, 6, 0, RANDOM_BYTES)
  const hash = hashOf(keys, prefix, boundTo, payload)
  const body = Buffer.concat([payload, hash.subarray(0, MAC_BYTES)])
  return { text: `${prefix}_${body.toString('base64url')}`, hash, routingKey, expiresAt: fromEpochSeconds(seconds) }
}

/** Null for anything that this service did not issue, with whichever key, under that prefix and bound to that holder. Needs no database. */
export function parseToken(keys: Keys, prefix: Prefix, text: string, boundTo = ''): OpaqueToken | null {
  if (!text.startsWith(`${prefix}_`)) return null
  const body = text.slice(prefix.length + 1)
  if (!BODY.test(body)) return null
  const bytes = Buffer.from(body, 'base64url')
  const payload = bytes.subarray(0, PAYLOAD_BYTES)
  const mac = bytes.subarray(PAYLOAD_BYTES)
  let hash = hashOf(keys, prefix, boundTo, payload)
  if (!isMac(mac, hash)) {
    const found = keys.others.map((other) => hashOf(other, prefix, boundTo, payload)).find((hash) => isMac(mac, hash))
    if (!found) return null
    hash = found
  }
  return { text, hash, routingKey: payload.readUInt16BE(0), expiresAt: fromEpochSeconds(payload.readUInt32BE(2)) }
}

const AHEAD = Buffer.alloc(8 * 1024)
let used = AHEAD.length

/** Unpredictable bytes, 8 KiB at most. Fetched many at a time: each call to the system costs more than an HMAC. */
export function randomBytes(count: number): Buffer {
  if (used + count > AHEAD.length) {
    randomFillSync(AHEAD)
    used = 0
  }
  const bytes = Buffer.from(AHEAD.subarray(used, used + count))
  AHEAD.fill(0, used, used + count)
  used += count
  return bytes
}

import { randomFillSync, timingSafeEqual } from 'node:crypto'
import { epochSeconds, fromEpochSeconds } from '../clock.ts'
import { hmacSha256 } from './digest.ts'
import type { DerivedKeys, Keys } from './keys.ts'

/**
 * Tokens, codes and session ids: `<prefix>_<base64url(routing key 2 B, expiry 4 B, random 21 B)><base64url(MAC 9 B)>`.
 * Thanks to the MAC, a forged or mistyped token is refused without the database. Thanks to the expiry, an expired token
 * is answered as expired, not as unknown, after its row has been purged. 27 and 9 bytes are whole groups of Base64, so
 * each token has exactly one spelling. One HMAC-SHA256 gives both the MAC (its first 9 bytes) and the hash that is stored.
 */
const RANDOM_BYTES = 21
const PAYLOAD_BYTES = 6 + RANDOM_BYTES
const MAC_BYTES = 9
const BODY = /^[A-Za-z0-9_-]{48}$/

/** Prefixes differ, so that a refresh token never passes for an access token. */
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

/** A token that this service has just issued, or has issued before and received back. */
export interface OpaqueToken {
  /** What the caller holds; a secret. */
  readonly text: string
  /** 32 bytes, the only form that is stored. The MAC can be computed from it, the random bits cannot. */
  readonly hash: Buffer
  /** 0 to 65535; the first column of every row about the same user. */
  readonly routingKey: number
  /** A whole second. */
  readonly expiresAt: Date
}

interface NewOpaqueToken extends Pick<OpaqueToken, 'routingKey' | 'expiresAt'> {
  readonly prefix: Prefix
  /** Its first 21 bytes are used; given when the same request must yield the same token again. */
  readonly random?: Buffer | undefined
  /** The only holder who may present it (an app_key); part of the MAC, so anybody else fails without the database. */
  readonly boundTo?: string
}

/** Scratch buffers in which tokens are built and parsed, so that none leaves garbage. */
const BYTES = Buffer.alloc(PAYLOAD_BYTES + MAC_BYTES)
const PAYLOAD = BYTES.subarray(0, PAYLOAD_BYTES)
const MAC = BYTES.subarray(PAYLOAD_BYTES)
const RIGHT_MAC = Buffer.alloc(MAC_BYTES)

const hashOf = (keys: DerivedKeys, prefix: Prefix, boundTo: string): Buffer =>
  hmacSha256(keys.token, `${prefix}\n${boundTo}\n`, PAYLOAD)

/** Unlike `Buffer.copy` of a part, it allocates no object. */
function copyBytes(from: Buffer, start: number, count: number, to: Buffer, at: number): void {
  for (let place = 0; place < count; place++) to[at + place] = from[start + place] as number
}

function hasMacOf(hash: Buffer): boolean {
  copyBytes(hash, 0, MAC_BYTES, RIGHT_MAC, 0)
  return timingSafeEqual(MAC, RIGHT_MAC)
}

export function issueToken(
  keys: DerivedKeys,
  { prefix, routingKey, expiresAt, random, boundTo = '' }: NewOpaqueToken,
): OpaqueToken {
  PAYLOAD.writeUInt16BE(routingKey, 0)
  const seconds = epochSeconds(expiresAt)
  PAYLOAD.writeUInt32BE(seconds, 2)
  if (random) copyBytes(random, 0, RANDOM_BYTES, PAYLOAD, 6)
  else fillRandomly(PAYLOAD, 6, RANDOM_BYTES)
  const hash = hashOf(keys, prefix, boundTo)
  copyBytes(hash, 0, MAC_BYTES, MAC, 0)
  return { text: `${prefix}_${BYTES.toString('base64url')}`, hash, routingKey, expiresAt: fromEpochSeconds(seconds) }
}

/** Null unless this service issued it, with any of its keys, under that prefix and for that holder. Needs no database. */
export function parseToken(keys: Keys, prefix: Prefix, text: string, boundTo = ''): OpaqueToken | null {
  if (!text.startsWith(`${prefix}_`)) return null
  const body = text.slice(prefix.length + 1)
  if (!BODY.test(body)) return null
  BYTES.write(body, 'base64url')
  let hash = hashOf(keys, prefix, boundTo)
  if (!hasMacOf(hash)) {
    const found = keys.others.map((other) => hashOf(other, prefix, boundTo)).find(hasMacOf)
    if (!found) return null
    hash = found
  }
  return { text, hash, routingKey: PAYLOAD.readUInt16BE(0), expiresAt: fromEpochSeconds(PAYLOAD.readUInt32BE(2)) }
}

const AHEAD = Buffer.alloc(8 * 1024)
let used = AHEAD.length

/** Random bytes are fetched in bulk: a system call costs more than an HMAC. */
function fillRandomly(target: Buffer, at: number, count: number): void {
  if (used + count > AHEAD.length) {
    randomFillSync(AHEAD)
    used = 0
  }
  copyBytes(AHEAD, used, count, target, at)
  AHEAD.fill(0, used, used + count)
  used += count
}

/** Cryptographically random bytes, at most 8 KiB. */
export function pooledRandomBytes(count: number): Buffer {
  const bytes = Buffer.alloc(count)
  fillRandomly(bytes, 0, count)
  return bytes
}

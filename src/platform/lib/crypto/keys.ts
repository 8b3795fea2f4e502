import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { readOr } from '../read-or.ts'
import { hmacSha256, sha256 } from './digest.ts'

const PURPOSES = [
  /** Authenticates the tokens, codes and session ids that we issue, and hashes them for storage. */
  'token',
  /** Hashes app_secrets and the subjects of counted attempts for storage. */
  'storage',
  /** Authenticates forms that come back from a browser. */
  'form',
  /** Derives a repeatable random part (the answer to a repeated refresh, the code of one consent). */
  'derive',
  /** Encrypts secrets that must be readable again (a partner's clientSecret), AES-256. */
  'seal',
  /** Authenticates cookies that mark a browser as one from which somebody has signed in before. */
  'device',
  /** Seed of the Ed25519 key that signs the sandbox's reports. */
  'report',
  /** Recognizes SECRET_KEY itself. */
  'fingerprint',
  /** Authenticates the chain of the audit log. */
  'audit',
  /** Signs the requests of commands on the machine of the service. */
  'command',
] as const

/** Keys for separate purposes, derived from one SECRET_KEY: a value made for one purpose never passes for another. */
export type DerivedKeys = Readonly<Record<(typeof PURPOSES)[number], Buffer>>

/**
 * The current key and, during a rotation of SECRET_KEY, former or future ones. The database tells all processes which key
 * is current (adoptKey): one that already has the new key must not issue what others, without it, would refuse.
 */
export interface Keys extends DerivedKeys {
  /** Values made with these are accepted too. */
  readonly others: readonly DerivedKeys[]
  /** Derived from SECRET_KEY; the rest from SECRET_KEYS_OLD. */
  readonly newest: DerivedKeys
}

function derive(secretKey: string): DerivedKeys {
  const keyFor = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, 'gatehouse', purpose, 32))
  const derived = PURPOSES.map((purpose) => [purpose, keyFor(purpose)])
  return Object.freeze(Object.fromEntries(derived)) as DerivedKeys
}

/** SECRET_KEY is the current key until adoptKey says otherwise. */
export function deriveKeys(secretKey: string, old: readonly string[] = []): Keys {
  const newest = derive(secretKey)
  return { ...newest, newest, others: old.filter((key) => key !== secretKey).map(derive) }
}

/** Every key whose values are accepted, the current one first. */
export const everyKey = (keys: Keys): readonly DerivedKeys[] => [keys, ...keys.others]

/** 32 bytes that identify a SECRET_KEY and reveal nothing about it or the keys derived from it. */
export const fingerprintOf = ({ fingerprint }: DerivedKeys): Buffer =>
  hmacSha256(fingerprint, 'the SECRET_KEY of this database')

/** Whether the current key is SECRET_KEY, not one of SECRET_KEYS_OLD. */
export const isCurrentKeyNewest = ({ token, newest }: Keys): boolean => token.equals(newest.token)

/** Makes the key with this fingerprint current, for all holders of `keys`. False if we do not have that key. */
export function adoptKey(keys: Keys, fingerprint: Buffer): boolean {
  if (fingerprintOf(keys).equals(fingerprint)) return true
  const previous = keys.others.find((other) => fingerprintOf(other).equals(fingerprint))
  if (!previous) return false
  const { newest, others, ...current } = keys
  Object.assign(keys, previous, { others: [current, ...others.filter((other) => other !== previous)] })
  return true
}

/** The stored form of an app_secret: HMAC-SHA256, 32 bytes. */
export const hashSecret = (keys: DerivedKeys, secret: string): Buffer => hmacSha256(keys.storage, secret)

/** Constant-time comparison of two texts of any length. */
export const equalSecrets = (left: string, right: string): boolean => timingSafeEqual(sha256(left), sha256(right))

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a secret that must be readable again: IV, ciphertext and tag in one buffer. The context (which row it
 * belongs to) is authenticated too, so that the secret of one row cannot be decrypted in another.
 */
export function encryptSecret(keys: DerivedKeys, text: string, context: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, keys.seal, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts with any of the keys; throws if none of them fits, or context or buffer were changed. */
export function decryptSecret(keys: Keys, sealed: Buffer, context: string): string {
  for (const key of everyKey(keys)) {
    const secret = decrypt(key, sealed, context)
    if (secret !== undefined) return secret
  }
  throw new Error(
    'a sealed secret cannot be opened: SECRET_KEY is not the one that it was sealed with, or its row was altered',
  )
}

/** Re-encrypts a secret with the current key; undefined if it already is. Throws like decryptSecret. */
export function reencryptSecret(keys: Keys, sealed: Buffer, context: string): Buffer | undefined {
  if (decrypt(keys, sealed, context) !== undefined) return undefined
  return encryptSecret(keys, decryptSecret(keys, sealed, context), context)
}

/** Undefined unless it was encrypted with exactly this key. */
const decrypt = (keys: DerivedKeys, sealed: Buffer, context: string): string | undefined =>
  readOr(() => {
    const [iv, tag] = [sealed.subarray(0, IV_BYTES), sealed.subarray(-TAG_BYTES)]
    const decipher = createDecipheriv(ALGORITHM, keys.seal, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(context)).setAuthTag(tag)
    const text = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  }, undefined)

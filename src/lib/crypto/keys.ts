import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { hmacSha256, sha256 } from './digest.ts'

/** Keys for separate purposes, all derived from SECRET_KEY, so that no value made for one purpose passes for another. */
export interface Keys {
  /** Authenticates tokens, codes and session ids that we hand out, and makes the form in which they are stored. */
  readonly token: Buffer
  /** Turns an app_secret, and who is counted for failed attempts, into the only form in which they are stored. */
  readonly storage: Buffer
  /** Authenticates forms that come back from a browser. */
  readonly form: Buffer
  /** Derives a repeatable random part (the answer to a repeated refresh, the code of one consent). */
  readonly derive: Buffer
  /** Encrypts secrets that must be readable again (a partner's clientSecret), AES-256. */
  readonly seal: Buffer
  /** Authenticates the marks of browsers from which somebody has signed in before. */
  readonly device: Buffer
  /** Seed of the Ed25519 key that signs the sandbox's reports. */
  readonly report: Buffer
  /** Recognizes SECRET_KEY itself. */
  readonly fingerprint: Buffer
  /** Authenticates the chain of the audit log. */
  readonly audit: Buffer
}

const PURPOSES = ['token', 'storage', 'form', 'derive', 'seal', 'device', 'report', 'fingerprint', 'audit'] as const

export function deriveKeys(secretKey: string): Keys {
  const derived = PURPOSES.map((purpose) => [
    purpose,
    Buffer.from(hkdfSync('sha256', secretKey, 'gatehouse', purpose, 32)),
  ])
  return Object.freeze(Object.fromEntries(derived)) as Keys
}

/** What is stored of an app_secret: HMAC-SHA256, 32 bytes. */
export const hashSecret = (keys: Keys, secret: string): Buffer => hmacSha256(keys.storage, secret)

/** Constant-time comparison of two texts of any length. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right))
}

const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a secret that must be readable again: initialisation vector, ciphertext and tag in one buffer. The context
 * (which row it belongs to) is authenticated with it, so that what is sealed for one row does not open in another.
 */
export function seal(keys: Keys, text: string, context: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, keys.seal, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(context))
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** The text that was sealed; throws when key, context or buffer is not the one of then. */
export function open(keys: Keys, sealed: Buffer, context: string): string {
  try {
    const [iv, tag] = [sealed.subarray(0, IV_BYTES), sealed.subarray(-TAG_BYTES)]
    const decipher = createDecipheriv(ALGORITHM, keys.seal, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(context)).setAuthTag(tag)
    const text = decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch (cause) {
    const why = 'SECRET_KEY is not the one that it was sealed with, or its row was altered'
    throw new Error(`a sealed secret cannot be opened: ${why}`, { cause })
  }
}

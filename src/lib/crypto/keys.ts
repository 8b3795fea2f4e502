import { hkdfSync, timingSafeEqual } from 'node:crypto'
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
}

const PURPOSES = ['token', 'storage', 'form', 'derive', 'seal', 'device', 'report', 'fingerprint'] as const

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

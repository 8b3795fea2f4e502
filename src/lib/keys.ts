import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Keys for separate purposes, all derived from SECRET_KEY, so that no value made for one purpose passes for another. */
export interface Keys {
  /** Authenticates tokens, codes and session ids that we hand out. */
  readonly token: Buffer
  /** Turns a token, code or secret into the only form of it that is stored. */
  readonly storage: Buffer
  /** Authenticates forms that come back from a browser. */
  readonly form: Buffer
  /** Derives a repeatable random part (the answer to a repeated refresh, the code of one consent). */
  readonly derive: Buffer
  /** Encrypts secrets that must be readable again (a partner's clientSecret), AES-256. */
  readonly seal: Buffer
  /** Seed of the Ed25519 key that signs the sandbox's reports. */
  readonly report: Buffer
}

const PURPOSES = ['token', 'storage', 'form', 'derive', 'seal', 'report'] as const

export function deriveKeys(secretKey: string): Keys {
  const derived = PURPOSES.map((purpose) => [
    purpose,
    Buffer.from(hkdfSync('sha256', secretKey, 'gatehouse', purpose, 32)),
  ])
  return Object.freeze(Object.fromEntries(derived)) as Keys
}

export const hmacSha256 = (key: Buffer, ...parts: (string | Buffer)[]): Buffer => {
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

/** The stored form of a token, code or app_secret: HMAC-SHA256, 32 bytes. */
export const storedForm = (keys: Keys, secret: string): Buffer => hmacSha256(keys.storage, secret)

/** Constant-time comparison of two texts of any length. */
export function equalSecrets(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(left), digest(right))
}

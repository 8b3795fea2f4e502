import { fromEpochSeconds } from '../../platform/lib/clock.ts'

/** What is kept of a token: `ghat_` and twelve characters, which hold its routing key, its end and 24 of 168 random bits. */
const KEPT = /^(gh(?:at|rt|ac))_([A-Za-z0-9_-]{12})/
const KINDS: Readonly<Record<string, 'access token' | 'refresh token' | 'code'>> = {
  ghat: 'access token',
  ghrt: 'refresh token',
  ghac: 'code',
}

/** The beginning of a token that somebody sent; null of anything else. */
export const tokenPrefixOf = (text: string | undefined): string | null => KEPT.exec(text ?? '')?.[0] ?? null

export interface TokenPrefix {
  /** As it is kept with refused requests. */
  readonly begins: string
  readonly kind: 'access token' | 'refresh token' | 'code'
  readonly routingKey: number
  readonly expiresAt: Date
}

/** What the beginning of a token says by itself; undefined where it is none, or too short. */
export function parseTokenPrefix(text: string): TokenPrefix | undefined {
  const [begins, prefix = '', body = ''] = KEPT.exec(text) ?? []
  const kind = KINDS[prefix]
  if (begins === undefined || kind === undefined) return undefined
  const bytes = Buffer.from(body, 'base64url')
  return { begins, kind, routingKey: bytes.readUInt16BE(0), expiresAt: fromEpochSeconds(bytes.readUInt32BE(2)) }
}

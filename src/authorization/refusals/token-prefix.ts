import { fromEpochSeconds } from '../../platform/lib/clock.ts'

/** The stored prefix of a token holds its routing key, its expiry and 24 of 168 random bits. */
const STORED = /^(gh(?:at|rt|ac))_([A-Za-z0-9_-]{12})/
const KINDS: Readonly<Record<string, 'access token' | 'refresh token' | 'code'>> = {
  ghat: 'access token',
  ghrt: 'refresh token',
  ghac: 'code',
}

/** The prefix of a token; null for anything else. */
export const tokenPrefixOf = (text: string | undefined): string | null => STORED.exec(text ?? '')?.[0] ?? null

/** What the prefix of a token tells; undefined if it is not one or is too short. `begins`: as stored with refused requests. */
export function parseTokenPrefix(text: string) {
  const [begins, prefix = '', body = ''] = STORED.exec(text) ?? []
  const kind = KINDS[prefix]
  if (begins === undefined || kind === undefined) return undefined
  const bytes = Buffer.from(body, 'base64url')
  return { begins, kind, routingKey: bytes.readUInt16BE(0), expiresAt: fromEpochSeconds(bytes.readUInt32BE(2)) }
}

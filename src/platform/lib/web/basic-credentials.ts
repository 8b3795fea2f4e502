import { readOr } from '../read-or.ts'
import { readUtf8 } from '../utf8.ts'

/** The credentials that an app presents. */
export interface Credentials {
  readonly appKey: string
  /** The secret as sent and, if different, form-decoded; none if it is empty or missing. */
  readonly appSecrets: readonly string[]
}

/** The credentials of an Authorization header; undefined if it is missing or has another scheme. */
export function readBasic(header: string | undefined): Credentials | 'malformed' | undefined {
  const [scheme = '', encoded = ''] = (header ?? '').split(/ +/, 2)
  if (scheme.toLowerCase() !== 'basic') return undefined
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return 'malformed'
  const read = readUtf8(Buffer.from(encoded, 'base64'))
  if ('problem' in read) return 'malformed'
  const { text } = read
  const colon = text.indexOf(':')
  if (colon < 1) return 'malformed'
  const appSecret = text.slice(colon + 1)
  const appSecrets = appSecret === '' ? [] : [...new Set([appSecret, formDecoded(appSecret)])]
  // Decoding changes no valid app_key, so there is no need to try both.
  return { appKey: formDecoded(text.slice(0, colon)), appSecrets }
}

/** The token of an Authorization header (RFC 6750 §2.1). */
export const readBearer = (header: string | undefined): string | undefined =>
  /^bearer +(.*)$/i.exec(header ?? '')?.[1]?.trim()

/** RFC 6749 §2.3.1 wants both parts form-encoded, but many clients do not encode; undecodable text stays as it is. */
const formDecoded = (text: string): string => readOr(() => decodeURIComponent(text.replaceAll('+', ' ')), text)

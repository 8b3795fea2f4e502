import { APP_KEY_HEADER, BODY_DECRYPTED, ENCRYPTION_STATUS } from './aes-body.ts'

/** Records of calls to a partner must not reveal how to sign one (DECISIONS "Tokens and secrets"). */

export const MASK = '[secret]'

const codeOf = (sign: string): string => sign.charCodeAt(0).toString(16)

/** JSON with some characters as codes: as Gson, as Go, and as .NET writes it. */
const escapedForms = (json: string): string[] => [
  json.replace(/[<>&'=]/g, (sign) => `\\u00${codeOf(sign)}`),
  json.replace(/[<>&]/g, (sign) => `\\u00${codeOf(sign)}`),
  json.replace(/[<>&'+`]/g, (sign) => `\\u00${codeOf(sign).toUpperCase()}`),
]

/** Every form in which a secret may occur in a body or header: plain, in a JSON string, in a URL. */
function spellings(secret: string): string[] {
  if (/^\w+$/.test(secret)) return [secret]
  const json = JSON.stringify(secret).slice(1, -1)
  const encoded = encodeURIComponent(secret)
  const lowerCase = encoded.replace(/%../g, (code) => code.toLowerCase())
  const inJson = [json, json.replaceAll('/', '\\/'), ...escapedForms(json)]
  return [...new Set([secret, ...inJson, encoded, lowerCase])]
}

/** Replaces the secrets wherever they occur, and NUL, which PostgreSQL cannot store. */
export function masker(secrets: readonly string[]): (text: string) => string {
  const all = secrets.filter((secret) => secret !== '').flatMap(spellings)
  return (text) => all.reduce((masked, secret) => masked.replaceAll(secret, MASK), text).replaceAll('\0', '\ufffd')
}

const MAX_SHORTENED = 200

/** `MWS clientId:AbCd…`: enough to recognize, too little to use; without a colon any part could be the signature. */
export const shortened = (authorization: string): string => {
  const colon = authorization.lastIndexOf(':')
  const end = colon < 0 ? 'MWS '.length : Math.min(colon + ':AbCd'.length, MAX_SHORTENED)
  return authorization.length <= end ? authorization : `${authorization.slice(0, end)}…`
}

/** Header of a recorded call whose body is not the original, because a secret in it is masked. */
export const BODY_MASKED = 'gatehouse-body-masked'

/** Header of a replayed call that was rejected again; names the original call. */
export const REPLAY_OF = 'gatehouse-replay-of'

/**
 * Headers of a call that are recorded with their values. Any other value may be a credential (`Cookie`, `X-Api-Key`,
 * what a gateway adds) or somebody's address, so only the name is recorded.
 */
const KEPT_HEADERS: ReadonlySet<string> = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'allow', 'cache-control'],
  ...['connection', 'content-encoding', 'content-language', 'content-length', 'content-type', 'date', 'expect', 'host'],
  ...['partnerid', 'retry-after', 'server', 'traceparent', 'transfer-encoding', 'user-agent', 'vary'],
  ...[APP_KEY_HEADER.toLowerCase(), ENCRYPTION_STATUS, BODY_DECRYPTED, BODY_MASKED, REPLAY_OF],
])

export const NOT_KEPT = '[not kept]'

const keptValue = (name: string, value: string): string => {
  if (name === 'authorization') return shortened(value)
  if (KEPT_HEADERS.has(name)) return value
  // That a secret was sent is worth knowing, whatever the header.
  return value.includes(MASK) ? MASK : NOT_KEPT
}

/** Headers as they are recorded and shown: secrets masked, and most headers by name only. */
export const maskedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
  mask: (text: string) => string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, keptValue(name.toLowerCase(), mask(String(value)))]],
    ),
  )

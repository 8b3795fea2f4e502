import { APP_KEY_HEADER, BODY_DECRYPTED, ENCRYPTION_STATUS } from './aes-body.ts'

/** What is kept of a call to a partner must not give away how to sign one (DECISIONS "Tokens and secrets"). */

/** Replaces a secret. */
export const MASK = '[secret]'

/** Every form in which a secret may occur in a body or header: as it is, inside a JSON text, inside a URL. */
const spellings = (secret: string): string[] => [
  ...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]),
]

/** Replaces the secrets wherever they occur, and what PostgreSQL cannot store. */
export function masker(secrets: readonly string[]): (text: string) => string {
  const all = secrets.filter((secret) => secret !== '').flatMap(spellings)
  return (text) => all.reduce((masked, secret) => masked.replaceAll(secret, MASK), text).replaceAll('\0', '\ufffd')
}

const LONGEST_SHORTENED = 200

/** `MWS clientId:AbCd…`: enough to recognise, too little to use; without a colon any part could be the signature. */
export const shortened = (authorization: string): string => {
  const colon = authorization.lastIndexOf(':')
  const end = colon < 0 ? 'MWS '.length : Math.min(colon + ':AbCd'.length, LONGEST_SHORTENED)
  return authorization.length <= end ? authorization : `${authorization.slice(0, end)}…`
}

/** Header of a kept call whose body is not the original one, because a secret in it is masked. */
export const BODY_MASKED = 'gatehouse-body-masked'

/** Header of a call that was rejected again; names the replayed call. */
export const REPLAY_OF = 'gatehouse-replay-of'

/**
 * Headers whose values are kept of a call. The value of any other may be a credential (`Cookie`, `X-Api-Key`, what a
 * gateway adds), or somebody's address, so only its name is.
 */
const KEPT_HEADERS: ReadonlySet<string> = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'allow', 'cache-control'],
  ...['connection', 'content-encoding', 'content-language', 'content-length', 'content-type', 'date', 'expect', 'host'],
  ...['partnerid', 'retry-after', 'server', 'traceparent', 'transfer-encoding', 'user-agent', 'vary'],
  ...[APP_KEY_HEADER.toLowerCase(), ENCRYPTION_STATUS, BODY_DECRYPTED, BODY_MASKED, REPLAY_OF],
])

/** In place of a value that is not kept. */
export const NOT_KEPT = '[not kept]'

const keptValue = (name: string, value: string): string => {
  if (name === 'authorization') return shortened(value)
  if (KEPT_HEADERS.has(name)) return value
  // It is worth knowing that a secret was sent, wherever it stood.
  return value.includes(MASK) ? MASK : NOT_KEPT
}

/** Headers as they are kept and shown: secrets masked, and of most headers the names alone. */
export const maskedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
  mask: (text: string) => string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, keptValue(name.toLowerCase(), mask(String(value)))]],
    ),
  )

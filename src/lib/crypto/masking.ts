/** What is kept of a call to a partner must not give away how to sign one (DECISIONS "Decided about signed calls"). */

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

/**
 * `MWS clientId:AbCd…`: enough of a signature to recognise it, too little to use it; without a colon, any part could be
 * the signature.
 */
export const shortened = (authorization: string): string => {
  const colon = authorization.lastIndexOf(':')
  const end = colon < 0 ? 'MWS '.length : Math.min(colon + ':AbCd'.length, LONGEST_SHORTENED)
  return authorization.length <= end ? authorization : `${authorization.slice(0, end)}…`
}

/** Headers with every value masked. */
export const maskedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
  mask: (text: string) => string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, mask(String(value))]])),
  )

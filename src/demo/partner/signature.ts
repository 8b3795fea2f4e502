import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** Everything there is to the signature, for both directions. Copy this file as it is. */
export interface Signed {
  readonly method: string
  /** The path alone, exactly as it is sent: with every prefix, without scheme, host and query. */
  readonly path: string
  /** The text of the Date header, exactly as it is sent. Make it once and use it twice: to sign and to send. */
  readonly date: string
}

/** One space, one line feed, nothing at the end. */
const stringToSign = ({ method, path, date }: Signed): string => `${method.toUpperCase()} ${path}\n${date}`

/** `MWS clientId:signature`; the signature is Base64 of the raw digest, not of its hex text. */
export function authorization(clientId: string, clientSecret: string, signed: Signed): string {
  const signature = createHmac('sha1', clientSecret).update(stringToSign(signed), 'utf8').digest('base64')
  return `MWS ${clientId}:${signature}`
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Whether two texts are equal, in a time that does not tell where they differ. Never compare signatures with ===. */
export const sameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

import { createHmac } from 'node:crypto'

/** What a signature of area B covers (DECISIONS "Signature", rule 1). */
export interface Signed {
  readonly method: string
  /** URI path only: no scheme, host or query. */
  readonly path: string
  /** The exact value of the Date header. */
  readonly date: string
}

export const stringToSign = ({ method, path, date }: Signed): string => `${method.toUpperCase()} ${path}\n${date}`

/** Base64 of the raw HMAC-SHA1 with the clientSecret as key: 28 characters (signature rule 2). */
export const sign = (clientSecret: string, signed: Signed): string =>
  createHmac('sha1', clientSecret).update(stringToSign(signed)).digest('base64')

/** The whole header value, `MWS clientId:signature` (signature rule 3). */
export const authorizationHeader = (clientId: string, clientSecret: string, signed: Signed): string =>
  `MWS ${clientId}:${sign(clientSecret, signed)}`

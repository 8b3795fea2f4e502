import { createHash } from 'node:crypto'

/** jsTicket of an access token: MD5 of the Base64 of its UTF-8 bytes, 32 lower-case hex characters (source, A6). */
export const jsTicket = (accessToken: string): string =>
  createHash('md5').update(Buffer.from(accessToken, 'utf8').toString('base64')).digest('hex')

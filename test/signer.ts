import { createHmac } from 'node:crypto'

/**
 * Signs calls the way a partner's client would, written from the contract alone. It imports nothing from src/, so that a
 * bug in src/ticketing/mws/authenticate.ts cannot hide behind the same bug here. Tests can replace each part by a wrong one.
 */
export interface Signing {
  method: string
  space: string
  path: string
  newline: string
  date: string
  end: string
  secret: string | Buffer
  hmac: (secret: string | Buffer, text: string) => Buffer
  encode: (digest: Buffer) => string
}

const CORRECT: Omit<Signing, 'path' | 'date' | 'secret'> = {
  method: 'POST',
  space: ' ',
  newline: '\n',
  end: '',
  hmac: (secret, text) => createHmac('sha1', secret).update(text, 'utf8').digest(),
  encode: (digest) => digest.toString('base64'),
}

export type ToSign = Pick<Signing, 'path' | 'date' | 'secret'> & Partial<Signing>

export function signatureOf(given: ToSign): string {
  const { method, space, path, newline, date, end, secret, hmac, encode } = { ...CORRECT, ...given }
  return encode(hmac(secret, method + space + path + newline + date + end))
}

export interface SignedHeaders {
  PartnerId: string
  Date: string
  Authorization: string
  'Content-Type': string
}

/** The headers of a signed call; `date` is the value of the Date header. */
export function signedHeaders(
  partner: { partnerId: string; clientId: string; clientSecret: string },
  call: { path: string; date: string; method?: string },
): SignedHeaders {
  const signature = signatureOf({ ...call, secret: partner.clientSecret })
  return {
    PartnerId: partner.partnerId,
    Date: call.date,
    Authorization: `MWS ${partner.clientId}:${signature}`,
    'Content-Type': 'application/json; charset=utf-8',
  }
}

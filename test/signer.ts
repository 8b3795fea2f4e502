import { createHmac } from 'node:crypto'

/**
 * A partner's client as its engineer would write it, from the contract alone: nothing of src/ is imported here, so an
 * error in src/ticketing/mws/authenticate.ts cannot hide behind the same error in the tests. Each part can be got wrong.
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

const rightly: Omit<Signing, 'path' | 'date' | 'secret'> = {
  method: 'POST',
  space: ' ',
  newline: '\n',
  end: '',
  hmac: (secret, text) => createHmac('sha1', secret).update(text, 'utf8').digest(),
  encode: (digest) => digest.toString('base64'),
}

export type ToSign = Pick<Signing, 'path' | 'date' | 'secret'> & Partial<Signing>

export function signatureOf(given: ToSign): string {
  const { method, space, path, newline, date, end, secret, hmac, encode } = { ...rightly, ...given }
  return encode(hmac(secret, method + space + path + newline + date + end))
}

export interface SignedHeaders {
  PartnerId: string
  Date: string
  Authorization: string
  'Content-Type': string
}

/** The header set of a signed call; `date` is the text of the Date header. */
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

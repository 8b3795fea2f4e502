import { randomUUID } from 'node:crypto'
import type { Deps } from '../deps.ts'
import type { PartnerInterface } from '../interfaces/index.ts'
import { addSeconds } from '../lib/clock.ts'
import { APP_KEY_HEADER, ENCRYPTION_HEADER, encryptBody } from '../lib/crypto/aes-body.ts'
import { authorizationHeader } from '../lib/crypto/signing.ts'
import { formatHttpDate } from '../lib/web/http-date.ts'
import { interfaceUrl, type PartnerWithSecrets } from '../registry/index.ts'
import type { Forgery } from './call-store.ts'

/** Older than any tolerance for clocks that differ (MTP_CLOCK_SKEW_S is 600). */
export const FORGED_DATE_AGE_S = 1_200

/** What goes over the wire. */
export interface SignedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body as it can be read; the same unless it is encrypted. */
  readonly text: string
}

/** The Date is that of this attempt, and so is the signature over it. */
export function signedRequest(
  { clock }: Deps,
  partner: PartnerWithSecrets,
  entry: PartnerInterface,
  text: string,
  {
    secret = partner.secrets.find(({ signs }) => signs)?.secret ?? '',
    forge,
  }: { readonly secret?: string; readonly forge?: Forgery },
): SignedRequest {
  const url = interfaceUrl(partner, entry.name, entry.defaultPath) ?? ''
  const path = URL.canParse(url) ? new URL(url).pathname : '/'
  const date = formatHttpDate(forge === 'date' ? addSeconds(clock.now(), -FORGED_DATE_AGE_S) : clock.now())
  const clientId = forge === 'client' ? `unknown-${randomUUID().slice(0, 8)}` : partner.client_id
  const key = forge === 'signature' ? randomUUID() : secret
  const encryptWith = entry.encrypted && partner.encrypts_calls ? partner.aes_key : null
  return {
    url,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      PartnerId: String(partner.partner_id),
      Date: date,
      Authorization: authorizationHeader(clientId, key, { method: 'POST', path, date }),
      ...(partner.aes_key === null ? {} : { [APP_KEY_HEADER]: clientId }),
      ...(encryptWith === null ? {} : { [ENCRYPTION_HEADER]: 'encrypted' }),
    },
    body: encryptWith === null ? text : encryptBody(encryptWith, text),
    text,
  }
}

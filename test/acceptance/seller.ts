import { Agent, request } from 'undici'
import { signatureOf } from '../signer.ts'
import type { Client } from './client.ts'
import type { Answer } from './http.ts'

/** A ticket seller's client, written from the contract alone: signs and sends notices over HTTP. */

export interface Seller {
  readonly partnerId: string
  readonly clientId: string
  readonly clientSecret: string
}

export async function makeSeller(client: Client, changes: object = {}): Promise<Seller> {
  const made = await client.admin('POST', '/partners', { name: 'Seller', stage: 'live', ...changes })
  return {
    partnerId: String(made.partner_id),
    clientId: String(made.client_id),
    clientSecret: String(made.client_secret),
  }
}

export const CONSUME = '/mtp/api/order/consume/notice'
export const REFUND = '/mtp/api/order/refund/notice'
export const DEAL_CHANGE = '/mtp/api/deal/change/notice'
export const LEVEL_PRICES = '/mtp/api/level/price/notice/v2'
export const SIGNATURE_TEST = '/mtp/api/order/test/ba'

/** A list sends the header once per entry; undefined leaves it out. */
type HeaderChanges = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Sending {
  readonly path?: string
  readonly method?: string
  readonly body?: string | Buffer
  /** Text of the Date header. */
  readonly date?: string
  /** Parts of the string to sign that differ from what is sent. */
  readonly signed?: {
    readonly path?: string
    readonly date?: string
    readonly secret?: string
    readonly newline?: string
  }
  readonly headers?: HeaderChanges
}

const agent = new Agent({ connections: 64, pipelining: 1 })

/** Sends a call that is signed correctly unless `sending` says otherwise; `now` is the seller's clock. */
export async function send(origin: string, seller: Seller, sending: Sending, now = new Date()): Promise<Answer> {
  const { path = CONSUME, method = 'POST', body = '', date = now.toUTCString(), signed = {} } = sending
  const [signedPath = path] = path.split('?')
  const signature = signatureOf({ method, path: signedPath, date, secret: seller.clientSecret, ...signed })
  const headers: HeaderChanges = {
    PartnerId: seller.partnerId,
    Date: date,
    Authorization: `MWS ${seller.clientId}:${signature}`,
    'Content-Type': 'application/json; charset=utf-8',
    ...sending.headers,
  }
  const flat = Object.entries(headers).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).flatMap((each) => [name, each as string]),
  )
  const answer = await request({ origin, path, method, headers: flat, body, dispatcher: agent } as Parameters<
    typeof request
  >[0])
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}

export interface Told {
  readonly orderId: bigint | string
  readonly quantity?: number | string
  readonly used?: number | string
  readonly refunded?: number | string
  /** More members of the body, as JSON text that begins with a comma. */
  readonly more?: string
}

/** A consumption notice as JSON text, so that numbers of any size stay exactly as given. */
export const consumption = ({ orderId, quantity = 3, used = 1, refunded = 0, more = '' }: Told): string =>
  `{"body":{"orderId":${orderId},"partnerOrderId":"P-1","quantity":${quantity},"usedQuantity":${used},"refundedQuantity":${refunded}${more}}}`

export const decision = (orderId: bigint, refundId: string, code: number, describe = 'decided'): string =>
  `{"code":${code},"describe":${JSON.stringify(describe)},"body":{"orderId":${orderId},"refundId":"${refundId}","partnerOrderId":"P-1"}}`

export const success = ({ partnerId }: Seller): string => `{"code":200,"describe":"success","partnerId":"${partnerId}"}`

export const failure = ({ partnerId }: Seller, describe: string, code = 300): string =>
  JSON.stringify({ code, describe, partnerId })

export const BA_FAILED = 'BA verification failed'

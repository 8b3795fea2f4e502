import { randomBytes } from 'node:crypto'
import { authorizationHeader } from '../../src/platform/lib/crypto/signing.ts'
import type { Call } from './calls.ts'

/** An attacker with one IP address and the credentials of one partner. */

export interface Attacker {
  readonly partnerId: string
  readonly clientId: string
  readonly secret: string
}

const CONSUME = '/mtp/api/order/consume/notice'
const DEAL_CHANGE = '/mtp/api/deal/change/notice'
const SIGNATURE_TEST = '/mtp/api/order/test/ba'

function signed({ partnerId, clientId, secret }: Attacker, path: string, body: string): Call {
  const date = new Date().toUTCString()
  const headers = {
    PartnerId: partnerId,
    Date: date,
    Authorization: authorizationHeader(clientId, secret, { method: 'POST', path, date }),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
  }
  return { method: 'POST', target: path, headers, body }
}

const form = (target: string, body: string): Call => ({
  method: 'POST',
  target,
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(body.length) },
  body,
})

/** 90 KB of entries that are all invalid. */
const EMPTY_VOUCHERS = `{"body":{"orderId":1,"partnerOrderId":"P","quantity":1,"usedQuantity":1,"refundedQuantity":0,"voucherList":[${'{},'.repeat(30_000)}{}]}}`
/** As many products as fit into 1 MiB, different ones each time. */
const products = (): string => {
  const name = randomBytes(4).toString('hex')
  const entries = Array.from({ length: 20_000 }, (_, place) => `{"partnerDealId":"${name}${place}","status":2}`)
  return `{"body":[${entries.join(',')}]}`
}
/** About as many as are accepted from a partner. */
const someProducts = (): string => {
  const name = randomBytes(4).toString('hex')
  const entries = Array.from({ length: 900 }, (_, place) => `{"partnerDealId":"${name}${place}","status":2}`)
  return `{"body":[${entries.join(',')}]}`
}
const LANGUAGES = Array.from({ length: 4_000 }, (_, place) => `l${place};q=0.${place % 10}`).join(',')

/** The attacks, one after the other, repeatedly. */
export function attacksOf(attacker: Attacker): () => Call {
  const stranger = { ...attacker, secret: 'not the secret' }
  const passport = () => `passport=${randomBytes(6).toString('hex')}&password=wrong`
  const attacks: readonly (() => Call)[] = [
    () => signed(attacker, CONSUME, EMPTY_VOUCHERS),
    () => form('/sandbox/verify', `report=${encodeURIComponent(EMPTY_VOUCHERS)}&signature=x`),
    () => signed(attacker, DEAL_CHANGE, products()),
    () => signed(attacker, DEAL_CHANGE, someProducts()),
    () => ({ method: 'GET', target: '/', headers: { 'Accept-Language': LANGUAGES } }),
    () => ({ method: 'GET', target: '/no-such-page', headers: { Accept: 'text/html' } }),
    () => signed(stranger, SIGNATURE_TEST, '{}'),
    () => form('/sign-in', passport()),
    () => signed(stranger, CONSUME, JSON.stringify({ body: 'x'.repeat(16_000) })),
  ]
  let sent = 0
  return () => (attacks[sent++ % attacks.length] as () => Call)()
}

import { DEMO_PARTNER } from '../../src/demo/seed.ts'
import { authorizationHeader } from '../../src/platform/lib/crypto/signing.ts'
import { userInfoAsks } from '../bench/asks.ts'
import { BARE_TEXT } from '../bench/contestants/bare-answers.ts'
import { seedNotices } from '../bench/fixtures/orders.ts'
import { TICKET_PARTNER_ID } from '../bench/fixtures/people.ts'
import type { FilledWorld } from '../bench/fixtures/world.ts'
import type { Call } from './calls.ts'

/** Calls of well-behaved callers. */

export const READY: Call = { method: 'GET', target: '/readyz' }

const FORM = 'passport=alice&password=alice-password'
export const SIGN_IN: Call = {
  method: 'POST',
  target: '/sign-in',
  headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': String(FORM.length) },
  body: FORM,
}

/** A5 calls, each with another token until they are used up. */
export function userInfoCalls(world: FilledWorld): () => Call {
  const targets = Array.from(userInfoAsks(world, 'gatehouse'), ({ target }) => target)
  let asked = 0
  return () => ({
    method: 'POST',
    target: targets[asked++ % targets.length] as string,
    headers: { 'Content-Length': '0' },
  })
}

/** Signed consumption notices, each for another order. */
export async function noticeCalls(world: FilledWorld, most: number): Promise<() => Call> {
  const asks = await seedNotices(world, most, BARE_TEXT.accepted)
  let sent = 0
  return () => {
    const { target, headers = {}, body = '' } = asks[sent++ % asks.length] as (typeof asks)[number]
    return { method: 'POST', target, headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) }, body }
  }
}

const REFUND_PATH = '/mtp/api/order/refund/notice'

/** Signed refund notices for such orders: each reads the table `refund`. */
export async function refundCalls(world: FilledWorld, most: number): Promise<() => Call> {
  const asks = await seedNotices(world, most, BARE_TEXT.accepted)
  let sent = 0
  return () => {
    const { orderId, partnerOrderId } = JSON.parse(asks[sent++ % asks.length]?.body ?? '').body
    const date = new Date().toUTCString()
    const { clientId, secret } = DEMO_PARTNER
    const body = JSON.stringify({
      code: 200,
      describe: 'success',
      partnerId: Number(TICKET_PARTNER_ID),
      body: { orderId, partnerOrderId, refundId: `R-${orderId}` },
    })
    const headers = {
      PartnerId: TICKET_PARTNER_ID,
      Date: date,
      Authorization: authorizationHeader(clientId, secret, { method: 'POST', path: REFUND_PATH, date }),
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
    }
    return { method: 'POST', target: REFUND_PATH, headers, body }
  }
}

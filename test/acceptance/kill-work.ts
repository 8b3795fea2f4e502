import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { seedOrder } from '../orders/orders.ts'
import type { Browser } from './browser.ts'
import { type App, type Client, type TokenSet, tokenSetOf } from './client.ts'
import { consumption, makeSeller, type Seller, send, success } from './seller.ts'

/** Work that goes on while a service is killed, and a record of what was acknowledged. */

export interface Exchanges {
  readonly acknowledged: readonly TokenSet[]
  /** Codes whose exchange was cut off. */
  readonly unanswered: readonly { readonly code: string; readonly state: string }[]
  readonly ended: Promise<unknown>
}

const BROWSERS = 8

/** Repeats consent and exchange until no code can be obtained. */
export function startExchanges(client: Client, browser: Browser, app: App): Exchanges {
  const acknowledged: TokenSet[] = []
  const unanswered: { code: string; state: string }[] = []
  const work = async () => {
    for (;;) {
      const consented = await client.getCode(browser, app).catch(() => undefined)
      if (!consented) return
      const answer = await client.exchange(app, consented).catch(() => undefined)
      if (answer?.text.startsWith('{"rescode":0')) acknowledged.push(tokenSetOf(answer))
      else unanswered.push(consented)
    }
  }
  return { acknowledged, unanswered, ended: Promise.all(Array.from({ length: BROWSERS }, work)) }
}

const ORDERS = 190
const SENDERS = 16
export const TICKETS = 4
export const NOTICES = ORDERS * TICKETS

export const orderIds: readonly bigint[] = Array.from(
  { length: ORDERS },
  (_, index) => 8985652356590000001n + BigInt(index),
)

export interface Notices {
  readonly bodies: readonly string[]
  readonly acknowledged: readonly string[]
  /** How many notices were sent in all, repetitions included. */
  tries(): number
  readonly ended: Promise<unknown>
}

/** A seller with an order for each of `orderIds`. */
export async function makeOrders(client: Client, pool: Parameters<typeof seedOrder>[0]): Promise<Seller> {
  const seller = await makeSeller(client)
  for (const orderId of orderIds) {
    await seedOrder(pool, { orderId, partnerId: Number(seller.partnerId), quantity: TICKETS })
  }
  return seller
}

/** Sends each notice until it is acknowledged, each time to the process that `origin` names. */
export function startNotices(origin: () => string, seller: Seller): Notices {
  const bodies = Array.from({ length: NOTICES }, (_, index) =>
    consumption({
      orderId: orderIds[index % ORDERS] ?? 0n,
      quantity: TICKETS,
      used: 1 + Math.floor(index / ORDERS),
    }),
  )
  const acknowledged: string[] = []
  let tries = 0
  const untilAcknowledged = async (body: string): Promise<void> => {
    for (;;) {
      tries++
      const answer = await send(origin(), seller, { body }).catch(() => undefined)
      if (answer?.text === success(seller)) break
      expect([undefined, 503], answer?.text).toContain(answer?.status)
      await sleep(100) // leaves the CPU to the process that is starting
    }
    acknowledged.push(body)
  }
  const waiting = bodies.toReversed()
  const sendAll = async () => {
    for (let body = waiting.pop(); body; body = waiting.pop()) await untilAcknowledged(body)
  }
  const ended = Promise.all(Array.from({ length: SENDERS }, sendAll))
  ended.catch(() => {}) // handled by the caller, who awaits it after all kills
  return { bodies, acknowledged, tries: () => tries, ended }
}

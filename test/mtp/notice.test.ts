import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { seedOrder } from '../orders/orders.ts'
import { signedHeaders } from '../signer.ts'

const CONSUME = '/mtp/api/order/consume/notice'
const SECRET = '123456ce8b61f8e608eaf2e9702864a9'
const ORDER = 8985652356562370000n

let world: World

beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  const input = newPartner.parse({ partner_id: 7001, client_id: 'seller', name: 'Seller', stage: 'live' })
  await createPartner(world.deps, input, SECRET)
})
afterAll(() => world.close())

let orderId = ORDER
beforeEach(async () => {
  orderId += 1n
  await seedOrder(world.pool, { orderId, quantity: 3, vouchers: ['A', 'B', 'C'] })
})

const consumption = (used: number, refunded = 0): string =>
  `{"partnerId":7001,"body":{"orderId":${orderId},"partnerOrderId":"P-1","quantity":3,"usedQuantity":${used},"refundedQuantity":${refunded}}}`

async function post(body: string, { path = CONSUME, headers = {} as Record<string, string> } = {}) {
  const date = formatHttpDate(world.clock.now())
  const signed = signedHeaders({ clientId: 'seller', partnerId: '7001', clientSecret: SECRET }, { path, date })
  const answer = await world.app.inject({
    method: 'POST',
    url: path,
    headers: { ...signed, ...headers },
    payload: body,
  })
  return { status: answer.statusCode, ...(answer.json() as { code: number; describe: string; partnerId: string }) }
}

const order = async () => {
  const { rows } = await world.pool.query('select * from ticket_order where order_id = $1', [String(orderId)])
  return rows[0]
}

describe('a consumption notice', () => {
  it('is answered with success once it has taken effect', async () => {
    expect(await post(consumption(1))).toEqual({ status: 200, code: 200, describe: 'success', partnerId: '7001' })
    expect(await order()).toMatchObject({ used_quantity: 1, refunded_quantity: 0 })
  })

  it('that is repeated gets the same answer and has no second effect', async () => {
    await post(consumption(1))
    const changes = 'select count(*)::int from record_change where order_id = $1'
    const before = (await world.pool.query(changes, [String(orderId)])).rows[0]
    expect(await post(consumption(1))).toMatchObject({ code: 200, describe: 'success' })
    expect((await world.pool.query(changes, [String(orderId)])).rows[0]).toEqual(before)
  })

  it('sent thirty times at once has one effect', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, () => post(consumption(2))))
    expect(answers.every(({ code }) => code === 200)).toBe(true)
    const { rows } = await world.pool.query('select count(*)::int as n from notice where body like $1', [
      `%${orderId}%`,
    ])
    expect(rows[0].n).toBe(1)
    expect(await order()).toMatchObject({ used_quantity: 2 })
  })

  it('that was refused is decided anew when repeated', async () => {
    const unknown = consumption(1).replace(String(orderId), String(orderId + 500n))
    expect(await post(unknown)).toMatchObject({ code: 300, describe: `order ${orderId + 500n} does not exist` })
    await seedOrder(world.pool, { orderId: orderId + 500n, quantity: 3 })
    expect(await post(unknown)).toMatchObject({ code: 200 })
  })

  it('gets no answer about its body unless the signature is valid', async () => {
    const wrong = { Authorization: 'MWS seller:AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }
    for (const body of ['', 'no json', '[]', '{"body":{}}', 'x'.repeat(2 * 1024 * 1024)]) {
      expect(await post(body, { headers: wrong })).toEqual({
        status: 200,
        code: 300,
        describe: 'BA verification failed',
        partnerId: '7001',
      })
    }
  })
})

import { afterAll, describe, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import { createOrder } from '../../src/ticketing/orders/create-order.ts'
import { outcomesOf } from '../../src/ticketing/orders/show-store.ts'
import { findNamedOrder, findTrialOrder, hasSold, trialOrders } from '../../src/ticketing/orders/trial-store.ts'
import { newOrder } from '../../src/ticketing/orders/wire.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { worldWithSeller } from '../partner-calls/fake-seller.ts'
import { desk, newId } from './desk.ts'

const { world, close } = await worldWithSeller()
afterAll(close)
const { create, pay, refund } = desk(world)
const { db } = world.deps

const createTrial = async (): Promise<bigint> => {
  const order_id = newId()
  const priced = { mt_deal_id: 1n, unit_price: 100, buy_price: 80, quantity: 2 }
  const input = newOrder.parse({ partner_id: 7001, partner_deal_id: 'deal-1', order_id, ...priced })
  await createOrder(world.deps, input, BY_COMMAND, 'trial')
  return order_id
}
const rowsAbout = async (orderId: bigint) => {
  const count = async (table: string) =>
    (await world.pool.query(`select count(*)::int as rows from ${table} where order_id = $1`, [String(orderId)]))
      .rows[0].rows
  return Promise.all(['ticket_order', 'voucher', 'refund', 'record_change'].map(count))
}

describe('a trial order', () => {
  it('belongs to the sandbox even if its partner is live, and is told apart from sold orders', async () => {
    const [trial, sold] = [await createTrial(), newId()]
    await create(sold)
    expect(await findNamedOrder(db, sold)).toMatchObject({ partner_id: 7001n, sold: true, vouchers: [] })
    expect(await findNamedOrder(db, trial)).toMatchObject({ partner_id: 7001n, sold: false })
    expect(await findNamedOrder(db, newId())).toBeUndefined()
    expect(await findNamedOrder(db, -(2n ** 63n))).toBeUndefined()
    expect([await hasSold(db, 7001n), await hasSold(db, 7002n)]).toEqual([true, false])
    expect(await findTrialOrder(db, 7001n, trial)).toMatchObject({ order_id: trial, state: 'created', quantity: 2 })
    expect(await findTrialOrder(db, 7001n, sold)).toBeUndefined()
    expect(await findTrialOrder(db, 7002n, trial)).toBeUndefined()
    expect((await trialOrders(db, 7001n, 5)).map(({ order_id }) => order_id)).toEqual([trial])
    for (const orderId of [trial, sold]) {
      await pay(orderId)
      await refund(orderId, `R-${orderId}`, { quantity: 2 })
    }
    expect((await outcomesOf(db, [trial])).refunded).toEqual([String(trial)])
    // The outcomes of sold orders prove nothing in an acceptance run.
    expect(await outcomesOf(db, [sold])).toEqual({ consumed: [], refunded: [] })
  })

  it('is deleted with all its records after thirty days, while a sold order stays', async () => {
    const [trial, sold] = [await createTrial(), newId()]
    await create(sold)
    for (const orderId of [trial, sold]) {
      await pay(orderId)
      await refund(orderId, `R-${orderId}`, { quantity: 1 })
    }
    const before = await rowsAbout(sold)
    expect(before.every((rows) => rows > 0)).toBe(true)
    world.clock.advance(29 * 86_400)
    await purge(world.deps, {})
    expect(await rowsAbout(trial)).toEqual(before)
    world.clock.advance(86_401)
    await purge(world.deps, {})
    expect(await rowsAbout(trial)).toEqual([0, 0, 0, 0])
    expect(await rowsAbout(sold)).toEqual(before)
  })
})

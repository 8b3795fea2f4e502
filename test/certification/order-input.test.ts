import { afterAll, expect, it } from 'vitest'
import { orderInput } from '../../src/sandbox/certification/index.ts'
import { choice } from '../../src/sandbox/test-plan/index.ts'
import { BY_PLAYGROUND, existingPartner } from '../../src/ticketing/partner-calls/index.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { ok, worldWithSeller } from '../partner-calls/fake-seller.ts'

const { world, seller, close } = await worldWithSeller()
afterAll(close)

/** Tickets of a test order of a product with these fields, where this many are wanted. */
async function tickets(fields: object, quantity: number): Promise<number> {
  const open = {
    useDateMode: 0,
    stock: 9,
    marketPrice: 1,
    mtPrice: 1,
    settlementPrice: 1,
    voucherDateBegin: '2026-01-01',
  }
  const product = { ...PRODUCT, ...open, voucherDateEnd: '2027-01-01', validWeekRule: {}, ...fields }
  seller.on('/product/query', ok([product] as object))
  const functions = ['product-pull', 'pay-at-once', 'refund-at-once']
  const { deps } = world
  const preparing = {
    ...{ deps, partner: await existingPartner(deps, 7001n), cause: BY_PLAYGROUND },
    choice: choice.parse({ functions, products: { main: PRODUCT.partnerDealId }, quantity }),
    prepare: <Result>(operation: (given: typeof deps) => Promise<Result>) => operation(deps),
  }
  return (await orderInput(preparing, PRODUCT.partnerDealId)).quantity
}

it.each([
  ['as wanted where there is no limit', {}, 2, 2],
  ['as few as one buyer may have', { maxBuyCount: 1 }, 2, 1],
  ['numbers that came as text', { minBuyCount: '3', maxBuyCount: '4' }, 5, 4],
  ['no fewer than the product is sold in', { minBuyCount: 3 }, 2, 3],
])('a test order has %s', async (_what, fields, wanted, quantity) => {
  expect(await tickets(fields, wanted)).toBe(quantity)
})

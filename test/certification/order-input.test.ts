import { afterAll, expect, it } from 'vitest'
import { orderInput } from '../../src/sandbox/certification/index.ts'
import { choice } from '../../src/sandbox/test-plan/index.ts'
import { BY_PLAYGROUND, existingPartner } from '../../src/ticketing/partner-calls/index.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { ok, worldWithSeller } from '../partner-calls/fake-seller.ts'

const { world, seller, close } = await worldWithSeller()
afterAll(close)

/** The quantity of a test order for a product with these fields, when the partner chose this quantity. */
async function orderQuantity(fields: object, quantity: number): Promise<number> {
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
  ['as chosen when there is no limit', {}, 2, 2],
  ['at most maxBuyCount', { maxBuyCount: 1 }, 2, 1],
  ['within limits that are strings', { minBuyCount: '3', maxBuyCount: '4' }, 5, 4],
  ['at least minBuyCount', { minBuyCount: 3 }, 2, 3],
])('the quantity of a test order is %s', async (_what, fields, wanted, quantity) => {
  expect(await orderQuantity(fields, wanted)).toBe(quantity)
})

it.each([1_001, 2 ** 31 - 1])(
  'a product of which at least %i must be bought is refused, without making visitors',
  async (minBuyCount) => {
    const refused = orderQuantity({ minBuyCount, maxBuyCount: 0, visitorInfoType: 3 }, 2)
    await expect(refused).rejects.toThrow(
      `minBuyCount of product ${PRODUCT.partnerDealId} is ${minBuyCount}; an order has at most 1000 tickets`,
    )
  },
)

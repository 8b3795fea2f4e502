import { afterAll, beforeAll, expect, it } from 'vitest'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { success } from '../acceptance/seller.ts'
import { openWorld, type World } from '../harness.ts'
import { signedHeaders } from '../signer.ts'

/** After the clock is set back, a notice does not count as a repetition of one "received in the future". */

const SELLER = { partnerId: '7001', clientId: 'seller', clientSecret: 'a clientSecret of these tests' }
const PATH = '/mtp/api/deal/change/notice'

let world: World
beforeAll(async () => {
  world = await openWorld()
  const input = newPartner.parse({ partner_id: SELLER.partnerId, client_id: SELLER.clientId, name: 'Seller' })
  await createPartner(world.deps, input, SELLER.clientSecret)
})
afterAll(() => world?.close())

const post = async (status: number): Promise<string> => {
  const date = formatHttpDate(world.clock.now())
  const body = JSON.stringify({ partnerId: 7001, body: [{ partnerDealId: 'd-1', status }] })
  const headers = { ...signedHeaders(SELLER, { path: PATH, date }) }
  return (await world.app.inject({ method: 'POST', url: PATH, headers, payload: body })).body
}
const state = async () =>
  (await world.pool.query("select sale_state from product where partner_deal_id = 'd-1'")).rows[0]?.sale_state

it('a product notice takes effect after the clock was set back', async () => {
  expect(await post(1)).toBe(success(SELLER))
  const first = await state()
  expect(await post(0)).toBe(success(SELLER))
  expect(await state()).not.toBe(first)
  world.clock.advance(-3_600)
  expect(await post(1)).toBe(success(SELLER))
  expect(await state(), 'the same bytes as an hour later, and news').toBe(first)
  expect(await post(0)).toBe(success(SELLER))
  expect(await state()).not.toBe(first)
  world.clock.advance(3)
  expect(await post(1), 'three seconds later a retry').toBe(success(SELLER))
  expect(await state()).not.toBe(first)
})

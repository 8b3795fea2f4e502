import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Demo, startDemo } from '../../src/demo/index.ts'
import { orderTalk } from '../../src/demo/order-talk.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { listOrders } from '../../src/ticketing/orders/show-order.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'

let world: World
let demo: Demo
beforeAll(async () => {
  const port = await freePort()
  world = await openWorld({
    PORT: String(port),
    DEMO_PORT: '0',
    DEMO_PARTNER_PORT: '0',
    PARTNER_ADDRESS_ALLOW: '127.0.0.1',
  })
  await seedDemo(world.deps)
  await world.app.listen({ host: '127.0.0.1', port })
  demo = await startDemo(world.deps, world.log)
})
afterAll(async () => {
  await demo.stop()
  await world.close()
})

const talk = async (): Promise<string> => {
  const lines: string[] = []
  const wait = async (seconds: number) => world.clock.advance(seconds)
  await orderTalk({ deps: world.deps, say: (line) => lines.push(line), wait })
  return lines.join('\n')
}

describe('npm run demo:order', () => {
  it('prints two orders from product pull to the last notice, with their history', async () => {
    const printed = await talk()
    const calls = [...printed.matchAll(/^ {2}(Gatehouse|Partner) +POST (\S+)$/gm)].map(
      ([, caller, path]) => `${caller} ${path}`,
    )
    const bought = ['Gatehouse /product/price/query', 'Gatehouse /order/create', 'Gatehouse /order/pay']
    const consumed = 'Partner /mtp/api/order/consume/notice'
    expect(calls).toEqual([
      'Gatehouse /product/query',
      ...[...bought, 'Gatehouse /order/query', consumed, consumed],
      ...[...bought, ...Array(3).fill('Gatehouse /order/query')],
      ...['Gatehouse /order/refund', 'Partner /mtp/api/order/refund/notice'],
    ])
    expect(printed).toMatch(/totalSize 7\n +7 entries: DEMO-BOAT, DEMO-TOWER/)
    expect(printed).toMatch(/ {2}Partner +598 issuing/)
    expect(printed).toMatch(/ {2}Partner +602 under review/)
    expect(printed).not.toContain('undefined')
    expect(printed).toMatch(/^ {2}2026-05-06 10:34:20 UTC {2}operator {2}order: state creating$/m)
    expect(printed).toMatch(
      /Order \d{16} is consumed: 2 used, 0 refunded\. Its history:\n(.*\n)*.*notice .*paid → consumed/,
    )
    expect(printed).toMatch(
      /Order \d{16} is refunded: 0 used, 2 refunded\. Its history:\n(.*\n)*.*notice .*paid → refunded/,
    )
    const { orders } = await listOrders(world.deps, { limit: 10 })
    expect(orders.map(({ state }) => state).sort()).toEqual(['consumed', 'refunded'])
  })

  it('stops with the reason when the partner refuses a call', async () => {
    const { base_url } = (await world.pool.query('select base_url from partner')).rows[0]
    await fetch(`${base_url}/control/change-product`, {
      method: 'POST',
      body: JSON.stringify({ partnerDealId: 'DEMO-BOAT', stock: 1 }),
    })
    await expect(talk()).rejects.toThrow(/out of stock/)
  })

  it('says what to do when the demo is not running', async () => {
    await demo.stop()
    await expect(talk()).rejects.toThrow('start the demo in another terminal first: npm start')
  })
})

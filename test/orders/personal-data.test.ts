import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import { createOrder } from '../../src/ticketing/orders/create-order.ts'
import { applyPayResult } from '../../src/ticketing/orders/pay-result.ts'
import { queryOrder } from '../../src/ticketing/orders/query-order.ts'
import { newOrder } from '../../src/ticketing/orders/wire.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { gatehouse } from '../cli-runner.ts'
import { nodesOf, watchPlans } from '../db/seen-plans.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'
import { type FakeSeller, fakeSeller } from '../partner-calls/fake-seller.ts'
import { stands } from './desk.ts'

/** Personal data of visitors is removed from orders that have ended; everything else stays as it was. */

const DAY = 86_400
const SECRETS = /Lin Lan|13812345678|310101199001011234|driver/
let world: World
let seller: FakeSeller
beforeAll(async () => {
  world = await openWorld({ ORDER_PERSONAL_DATA_DAYS: '30', PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001, { fields: { stage: 'sandbox' } })
})
afterAll(async () => {
  await seller?.close()
  await world?.close()
})

const PERSON = { name: 'Lin Lan', mobile: '13812345678', credentials: { '0': '310101199001011234' } }
const input = (order_id: bigint) =>
  newOrder.parse({
    ...{ partner_id: 7001, partner_deal_id: 'd', quantity: 2, mt_deal_id: 1, unit_price: 10, buy_price: 9, order_id },
    visitors: [PERSON],
    contact_person: PERSON,
  })
let ids = 100n
/** An order with every kind of personal data, which has just entered this state. */
async function orderIn(state: string, travel_date: string | null = null): Promise<bigint> {
  const id = ++ids
  await createOrder(world.deps, input(id), BY_COMMAND)
  const text = String(id)
  await world.pool.query('update ticket_order set state = $2, travel_date = $3 where order_id = $1', [
    text,
    state,
    travel_date,
  ])
  await world.pool.query("insert into order_credential values ($1, 'V', '310101199001011234', 0)", [text])
  await world.pool.query(`insert into order_additional values ($1, '[]', '["driver"]', 0)`, [text])
  await world.pool.query("insert into voucher values ($1, 'V', 'used', 2)", [text])
  return id
}
const keptOf = async (id: bigint): Promise<string> => {
  const { rows } = await world.pool.query(
    `select o.request::text || coalesce((select string_agg(credential_no, '') from order_credential where order_id = $1), '')
       || coalesce((select order_additional::text from order_additional where order_id = $1), '') as kept
     from ticket_order o where order_id = $1`,
    [String(id)],
  )
  return rows[0].kept
}
const isRemoved = async (id: bigint): Promise<boolean> => !SECRETS.test(await keptOf(id))
const removed = async () => (await purge(world.deps, {})).deleted['visitors of orders'] ?? 0
const cli = (...words: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, ...words)

describe('ORDER_PERSONAL_DATA_DAYS', () => {
  it('removes visitors that many days after the end of the order, and keeps what accounting needs', async () => {
    const ended = []
    for (const state of ['consumed', 'refunded', 'closed', 'created', 'create_failed', 'pay_failed']) {
      ended.push(await orderIn(state))
    }
    const ongoing = [
      await orderIn('paying'),
      await orderIn('pay_unknown'),
      await orderIn('paid'),
      await orderIn('closing'),
    ]
    const before = await world.pool.query('select * from ticket_order order by order_id')
    world.clock.advance(30 * DAY)
    expect(await removed()).toBe(0)
    world.clock.advance(1)
    expect(await removed()).toBe(ended.length)
    expect(await Promise.all(ended.map(isRemoved))).toEqual(ended.map(() => true))
    expect(await Promise.all(ongoing.map(isRemoved))).toEqual(ongoing.map(() => false))
    const after = await world.pool.query('select * from ticket_order order by order_id')
    const unaffected = (row: Record<string, unknown>) => {
      const { visitors: _visitors, contactPerson: _contact, ...request } = Object(row.request)
      return { ...row, request, data_removed_at: null }
    }
    expect(after.rows.map(unaffected)).toEqual(before.rows.map(unaffected))
    expect(after.rows.filter((row) => row.data_removed_at !== null)).toHaveLength(ended.length)
    expect(await removed()).toBe(0)
    const { rows } = await world.pool.query('select from voucher where order_id = $1', [String(ended[0])])
    expect(rows).toHaveLength(1)
  })

  it('counts paid orders as ended on the day of travel', async () => {
    const at = (days: number) => new Date(world.clock.now().getTime() + days * DAY * 1000).toISOString().slice(0, 10)
    const [past, coming] = [await orderIn('paid', at(2)), await orderIn('paid', at(40))]
    world.clock.advance(34 * DAY)
    await removed()
    expect([await isRemoved(past), await isRemoved(coming)]).toEqual([true, false])
  })

  it('shows the time of removal, and blocks only operations that need the visitors', async () => {
    const [used, failed] = [await orderIn('consumed'), await orderIn('create_failed')]
    world.clock.advance(31 * DAY)
    await removed()
    const day = world.clock.now().toISOString()
    expect((await cli('order', 'show', String(used))).stdout).toMatch(new RegExp(`data_removed_at +${day}`))
    const again = await createOrder(world.deps, input(used), BY_COMMAND)
    expect(again.order).toMatchObject({ state: 'consumed', data_removed_at: world.clock.now() })
    await expect(createOrder(world.deps, input(failed), BY_COMMAND)).rejects.toThrow(
      `the visitors of order ${failed} were removed on ${day.slice(0, 10)}: make a new order`,
    )
  })

  it('keeps out what the partner says about people after the removal', async () => {
    const id = await orderIn('consumed')
    world.clock.advance(31 * DAY)
    await removed()
    const lists = {
      credentialList: [{ credentialType: 0 as const, credentialNo: '310101199001011234', voucher: 'V' }],
      orderAdditionalList: ['driver'],
    }
    seller.on('/order/query', stands(id, 4, { usedQuantity: 2, ...lists }))
    expect((await queryOrder(world.deps, id, BY_COMMAND)).failure).toBeNull()
    const tickets = { voucherType: 2 as const, vouchers: [], ...lists }
    const result = { orderId: id, partnerOrderId: `P-${id}`, outcome: 'issued', issueType: 1, code: 200 } as const
    await applyPayResult(world.deps, 7001n, { ...result, describe: '', tickets }, { kind: 'notice', id: 'n' })
    expect(await isRemoved(id)).toBe(true)
  })

  it('skips a locked order until the next run', async () => {
    const id = await orderIn('consumed')
    world.clock.advance(31 * DAY)
    const holder = await world.pool.connect()
    await holder.query('begin')
    await holder.query('select from ticket_order where order_id = $1 for update', [String(id)])
    await removed()
    expect(await isRemoved(id)).toBe(false)
    await holder.query('rollback')
    holder.release()
    expect(await removed()).toBe(1)
  })

  it('reads only orders that still have their data', async () => {
    const id = await orderIn('consumed')
    await world.pool.query(
      `insert into ticket_order (order_id, partner_id, partner_deal_id, state, state_since, quantity, buy_price, unit_price,
         total_price, request, created_at, updated_at, data_removed_at)
       select 1000000 + n, 7001, 'd', 'consumed', '2026-01-01', 1, 1, 1, 1, '{}', '2026-01-01', '2026-01-01', '2026-02-01'
       from generate_series(1, 20000) n`,
    )
    await world.pool.query('analyze ticket_order')
    world.clock.advance(31 * DAY)
    const plans = await watchPlans(world)
    try {
      const seen = await plans.during(() => purge(world.deps, {}))
      const statement = seen.find(({ text }) => text.includes('data_removed_at is null'))
      const scans = statement ? nodesOf(statement.root).filter((node) => node['Relation Name'] === 'ticket_order') : []
      expect(scans.map((node) => node['Node Type'])).not.toContain('Seq Scan')
      const rowsRead = scans
        .filter((node) => node['Node Type'] === 'Index Scan')
        .map((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0))
      expect(Math.max(...rowsRead)).toBeLessThan(50)
    } finally {
      plans.stop()
    }
    expect(await isRemoved(id)).toBe(true)
  })
})

it('ORDER_PERSONAL_DATA_DAYS is off by default', async () => {
  const other = await openWorld()
  expect(other.deps.config.ORDER_PERSONAL_DATA_DAYS).toBe(0)
  await other.close()
})

import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acceptanceOf } from '../../src/sandbox/certification/acceptance.ts'
import { showRun } from '../../src/sandbox/certification/run.ts'
import { replay } from '../../src/sandbox/portal/traffic/replay.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { desk } from '../orders/desk.ts'
import { fakeSeller } from '../partner-calls/fake-seller.ts'
import { type Lab, openLab } from './lab.ts'
import { textOf, type Visitor, visitor } from './pages/visitor.ts'

const ORDERS = '/sandbox/play/orders'
const OPEN = { product: 'DEMO-OPEN', quantity: '2' }

let lab: Lab
let engineer: Visitor
beforeAll(async () => {
  lab = await openLab()
  engineer = await visitor(lab)
})
beforeEach(() => {
  lab.world.clock.advance(61)
})
afterAll(() => lab.close())

const at = ({ headers }: LightMyRequestResponse) => String(headers.location).replace(/#.*/, '')
const follow = async (answer: LightMyRequestResponse) => {
  expect(answer.statusCode, textOf(answer)).toBe(303)
  return engineer.open(at(answer))
}
const idIn = ({ body }: LightMyRequestResponse) => BigInt(/\/traffic\/orders\/(\d+)/.exec(body)?.[1] ?? 0)
const create = async (fields: Record<string, string> = OPEN) => {
  const page = await follow(await engineer.send(ORDERS, fields))
  return { page, orderId: idIn(page) }
}
const act = (orderId: bigint, action: string, fields = {}) => engineer.send(`${ORDERS}/${orderId}/${action}`, fields)
const order = async (orderId: bigint) => (await showOrder(lab.world.deps, orderId)).order
const newestCall = async () =>
  (await lab.world.pool.query('select * from partner_call order by started_at desc, arrival desc limit 1')).rows[0]

describe('an order of the playground', () => {
  it('is created, paid, queried and partly refunded, and keeps its state', async () => {
    const { page, orderId } = await create()
    expect(textOf(page)).toContain('All checks passed')
    expect(page.body).toContain(`action="${ORDERS}/${orderId}/pay"`)
    expect(page.body).not.toContain(`action="${ORDERS}/${orderId}/refund"`)
    expect(await order(orderId)).toMatchObject({ state: 'created', sandbox: true, quantity: 2 })
    const paid = await follow(await act(orderId, 'pay'))
    expect(textOf(paid)).toContain('All checks passed')
    expect(paid.body).toContain(`action="${ORDERS}/${orderId}/refund"`)
    expect(textOf(await follow(await act(orderId, 'query')))).toContain('All checks passed')
    await follow(await act(orderId, 'refund', { quantity: '1' }))
    expect(await order(orderId)).toMatchObject({ state: 'paid', refunded_quantity: 1 })
    expect(await newestCall()).toMatchObject({ interface: 'order-refund', verdict: 'passed', by_hand: false })
    const shown = await engineer.open(`${ORDERS}/${orderId}`)
    expect(textOf(shown)).toContain(`Order ${orderId}`)
    expect(textOf(shown)).toContain('paid, tickets issued')
    expect(shown.body).not.toContain('<code>paid</code>')
    expect(shown.body).toContain('max="1"')
    expect((await engineer.open(`/sandbox/traffic/orders/${orderId}`)).statusCode).toBe(200)
    const list = await engineer.open('/sandbox/play')
    expect(list.body).toContain(`${ORDERS}/${orderId}"`)
    expect(textOf(list)).toContain('paid, tickets issued')
  })

  it('calls a program that was just down, and so does a replay in Traffic', async () => {
    const { breakers } = lab.world.deps.calls
    const down = () => {
      for (let call = 0; call < 5; call++) breakers.recordOutcome(lab.partnerId, false, 0)
      expect(breakers.allowsCall(lab.partnerId, false)).not.toBe(true)
    }
    down()
    const { orderId } = await create()
    expect(await order(orderId)).toMatchObject({ state: 'created' })
    down()
    await follow(await act(orderId, 'query'))
    const { call_id: id } = await newestCall()
    expect(await newestCall()).toMatchObject({ interface: 'order-query', failure: null })
    down()
    expect(await replay(lab.world.deps, lab.partnerId, { kind: 'call', id })).toMatchObject({ outcome: 'done' })
  })

  it('can be closed, for a dated product too', async () => {
    const { orderId } = await create({ product: 'DEMO-BOAT', quantity: '1', travel_date: '2026-05-09' })
    expect(await order(orderId)).toMatchObject({ state: 'created', travel_date: '2026-05-09' })
    await follow(await act(orderId, 'close'))
    expect(await order(orderId)).toMatchObject({ state: 'closed' })
  })

  it('belongs to no run, so acceptance does not count it', async () => {
    const runId = await lab.run()
    const { orderId } = await create()
    await act(orderId, 'pay')
    await act(orderId, 'refund', { quantity: '2' })
    expect(await order(orderId)).toMatchObject({ state: 'refunded' })
    const { deps } = lab.world
    const { proof } = await acceptanceOf(deps, await showRun(deps, lab.partnerId, runId))
    expect(proof).toEqual({ consumed: [], refunded: [] })
  })

  it('refuses what its state does not allow, and sends nothing', async () => {
    const { orderId } = await create()
    const { call_id: before } = await newestCall()
    for (const [action, fields] of [['refund', { quantity: '1' }]] as const) {
      const refused = await act(orderId, action, fields)
      expect(refused.statusCode).toBe(409)
      expect(textOf(refused)).toContain('The order does not allow this now.')
    }
    await act(orderId, 'close')
    expect((await act(orderId, 'pay')).statusCode).toBe(409)
    expect(at(await act(orderId, 'close'))).toBe(`${ORDERS}/${orderId}`)
    expect((await newestCall()).interface).toBe('order-close')
    expect((await newestCall()).call_id).not.toBe(before)
  })

  it.each(['0', '-1', '1.5', 'all', '', '99999999999999999999'])('does not refund %j tickets', async (quantity) => {
    const { orderId } = await create()
    await act(orderId, 'pay')
    const refused = await act(orderId, 'refund', { quantity })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toMatch(new RegExp(`name="quantity" [^>]*value="${quantity}"`))
    expect((await order(orderId)).refunds).toEqual([])
  })
})

describe('the form of an order', () => {
  it.each([
    ['product', { ...OPEN, product: '' }],
    ['product', { ...OPEN, product: ' ' }],
    ['product', { ...OPEN, product: 'x'.repeat(256) }],
    ['product', { ...OPEN, product: 'a\0b' }],
    ['quantity', { ...OPEN, quantity: '0' }],
    ['quantity', { ...OPEN, quantity: '11' }],
    ['quantity', { ...OPEN, quantity: '1e9' }],
    ['quantity', { ...OPEN, quantity: 'two' }],
    ['travel_date', { ...OPEN, travel_date: '2026-02-30' }],
    ['travel_date', { ...OPEN, travel_date: 'tomorrow' }],
    ['unit_price', { ...OPEN, unit_price: '-1' }],
    ['buy_price', { ...OPEN, buy_price: '100000000' }],
    ['buy_price', { ...OPEN, buy_price: '<script>' }],
  ])('shows what is wrong with %s and keeps what was typed', async (field, fields) => {
    const page = await engineer.send(ORDERS, fields)
    expect(page.statusCode).toBe(400)
    expect(page.body).toContain(`id="order-${field}-problem"`)
    const [, summary = ''] = /<section class="alert summary" role="alert"([\s\S]*?)<\/section>/.exec(page.body) ?? []
    expect([...summary.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)).toEqual([`order-${field}`])
    expect(page.body).toContain(`id="order-${field}"`)
    expect(page.body.match(/aria-invalid/g)).toHaveLength(1)
    expect(page.body).not.toContain('value="<script>"')
  })

  it('says that the seller has no such product', async () => {
    const page = await engineer.send(ORDERS, { ...OPEN, product: 'never-heard-of' })
    expect(page.statusCode).toBe(400)
    expect(textOf(page)).toContain('returned no such product')
    expect(page.body).toContain('value="never-heard-of"')
  })

  it('asks for prices when the platform knows none, and starts with those of the run', async () => {
    const functions = ['pay-at-once', 'refund-at-once']
    await lab.run({ functions, products: { main: 'DEMO-OPEN' }, unit_price: 88.5, buy_price: 70, quantity: 3 })
    const form = await engineer.open('/sandbox/play')
    for (const value of ['DEMO-OPEN', '88.5', '70', '3']) expect(form.body).toContain(`value="${value}"`)
    const page = await engineer.send(ORDERS, { ...OPEN, product: 'never-heard-of' })
    expect(page.statusCode).toBe(400)
    expect(textOf(page)).toContain('Enter both prices')
    const priced = { product: 'never-heard-of', quantity: '1', unit_price: '10.50', buy_price: '9' }
    const created = await follow(await engineer.send(ORDERS, priced))
    expect(textOf(created)).toContain('Failed checks')
    expect(await order(idIn(created))).toMatchObject({ state: 'create_failed', unit_price: 10.5 })
  })

  it('may be sent 30 times a minute, counting handwritten calls too', async () => {
    const { orderId } = await create()
    const answers = []
    for (let times = 0; times < 30; times++) answers.push((await act(orderId, 'query')).statusCode)
    expect(answers).toEqual([...Array(29).fill(303), 429])
    expect((await engineer.send(ORDERS, OPEN)).statusCode).toBe(429)
    expect((await engineer.send('/sandbox/play/heartbeat', { body: '{}' })).statusCode).toBe(429)
  })
})

describe('orders from outside the playground', () => {
  it.each(['pay', 'query', 'refund', 'close'])('are not found by the action %s', async (action) => {
    const visitors = desk(lab.world)
    const sold = 8_985_652_356_562_000_777n
    await visitors.create(sold)
    expect((await act(sold, action, { quantity: '1' })).statusCode).toBe(404)
    expect((await engineer.open(`${ORDERS}/${sold}`)).statusCode).toBe(404)
    expect((await act(1n, action, { quantity: '1' })).statusCode).toBe(404)
  })

  it('of another partner are not found', async () => {
    const { orderId } = await create()
    const other = await fakeSeller(lab.world, 7002, { fields: { stage: 'sandbox' } })
    const stranger = await visitor(lab, { client_id: 'seller-7002', client_secret: other.secret })
    expect((await stranger.open(`${ORDERS}/${orderId}`)).statusCode).toBe(404)
    expect((await stranger.send(`${ORDERS}/${orderId}/query`)).statusCode).toBe(404)
    expect((await stranger.open('/sandbox/play')).body).not.toContain(String(orderId))
    // What that partner writes by hand about the id is no call about the order.
    const body = JSON.stringify({ body: { orderId: 'ID' } }).replace('"ID"', String(orderId))
    const before = (await showOrder(lab.world.deps, orderId)).calls
    expect((await stranger.send('/sandbox/play/order-query', { body })).statusCode).toBe(303)
    expect(await newestCall()).toMatchObject({ order_id: String(orderId), partner_id: '7002' })
    expect((await showOrder(lab.world.deps, orderId)).calls).toEqual(before)
    await other.close()
  })

  it.each(['x', '0x1', '99999999999999999999', '-1', ''])('are not found by the id %j', async (id) => {
    expect((await engineer.open(`${ORDERS}/${id}`)).statusCode).toBe(404)
    expect((await engineer.send(`${ORDERS}/${id}/pay`)).statusCode).toBe(404)
    expect((await engineer.send(`${ORDERS}/1/steal`)).statusCode).toBe(404)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from '../harness.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { stands } from '../orders/desk.ts'
import { type FakeSeller, fakeSeller, ok, refusal, reset } from '../partner-calls/fake-seller.ts'
import { type Person, signedIn } from './person.ts'

/** Orders and products in the console: a form for each step, and the response of the partner. */

let world: World
let seller: FakeSeller
let editor: Person
let viewer: Person
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001, { fields: { stage: 'sandbox' } })
  editor = (await signedIn(world, 'editor')).person
  viewer = (await signedIn(world, 'viewer')).person
})
afterAll(async () => {
  await seller.close()
  await world.close()
})

const DEAL = 'd-1'
const PRICES = { unit_price: '10.50', buy_price: '9', mt_deal_id: '1' }
const stateOf = async (order: string) =>
  (await world.pool.query('select state from ticket_order where order_id = $1', [order])).rows[0]?.state
/** The initial value of a form field. */
const valueIn = async (url: string, name: string) =>
  new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec((await editor.get(url)).text)?.[1] ?? ''

async function created(fields: Record<string, string> = {}): Promise<string> {
  const order_id = await valueIn('/console/-/orders/new', 'order_id')
  const answer = await editor.submit('/console/-/orders/new', {
    ...{ order_id, partner_id: '7001', partner_deal_id: DEAL, quantity: '2' },
    ...PRICES,
    ...fields,
  })
  expect([answer.status, answer.location], answer.text).toEqual([303, `/console/orders/${order_id}?done=1`])
  return order_id
}

async function paid(): Promise<string> {
  const order = await created()
  expect(await editor.submit(`/console/orders/${order}/pay`)).toMatchObject({ status: 303 })
  return order
}

describe('an order', () => {
  it('is created, paid and refunded by forms; records name the operator and the console', async () => {
    const order = await created({ visitors: '[{"name":"王芳"}]' })
    expect(seller.calls.at(-1)?.body).toMatchObject({ orderId: Number(order), visitors: [{ name: '王芳' }] })
    const page = `/console/orders/${order}`
    expect((await editor.get(page)).text).toMatch(/\/pay"[\s\S]*\/close"/)
    expect((await editor.submit(`${page}/pay`)).location).toBe(`${page}?done=1`)
    const shown = (await editor.get(page)).text
    expect(shown).toContain(`<code>${order}-1</code>`)
    expect(shown).not.toContain(`${page}/pay"`)
    const asked = (await editor.get(`${page}/refund`)).text
    expect(asked).toMatch(/<dt>Tickets that may be refunded<\/dt><dd>2<[\s\S]*<dt>Parts may be refunded<\/dt><dd>Yes</)
    expect(await editor.submit(`${page}/refund`, { quantity: '1', refund_fee: '1' })).toMatchObject({ status: 303 })
    expect(seller.calls.at(-1)?.body).toMatchObject({ refundQuantity: 1, refundFee: 1, refundPrice: 10.5 })
    const { rows } = await world.pool.query(`select event, actor from audit_event where target = $1 order by at`, [
      `order:${order}`,
    ])
    expect(rows.map(({ event, actor }) => [event, actor])).toEqual([
      ['order_create_asked', 'operator'],
      ['order_pay_asked', 'operator'],
      ['order_refund_asked', 'operator'],
    ])
    const causes = await world.pool.query('select distinct cause, cause_ref from partner_call where order_id = $1', [
      order,
    ])
    expect(causes.rows).toEqual([{ cause: 'operator', cause_ref: 'console' }])
  })

  it('is created once by a double click, and refunded once', async () => {
    const form = { partner_id: '7001', partner_deal_id: DEAL, quantity: '2', ...PRICES }
    const order_id = await valueIn('/console/-/orders/new', 'order_id')
    const hidden = await editor.hidden('/console/-/orders/new')
    const both = [1, 2].map(() => editor.post('/console/-/orders/new', { ...hidden, ...form, order_id }))
    for (const answer of await Promise.all(both)) expect(answer.location).toBe(`/console/orders/${order_id}?done=1`)
    expect(
      seller.calls.filter(({ path, body }) => path === '/order/create' && String(body.orderId) === order_id),
    ).toHaveLength(1)
    await editor.submit(`/console/orders/${order_id}/pay`)
    const refund = `/console/orders/${order_id}/refund`
    const refund_id = await valueIn(refund, 'refund_id')
    expect(refund_id).toMatch(/^[0-9a-f-]{36}$/)
    const fields = { ...(await editor.hidden(refund)), refund_id, quantity: '1' }
    for (let click = 0; click < 2; click++) expect((await editor.post(refund, fields)).status).toBe(303)
    const { rows } = await world.pool.query('select refund_quantity from refund where order_id = $1', [order_id])
    expect(rows).toEqual([{ refund_quantity: 1 }])
  })

  it('of a product without partial refunds warns before the partner is called, in the language of the page', async () => {
    seller.on(
      '/product/query',
      ok([{ ...PRODUCT, partnerDealId: DEAL, partlyRefund: false }] as object, { totalSize: 1 }),
    )
    expect((await editor.submit('/console/partners/7001/-/products/pull', { partner_deal_id: DEAL })).status).toBe(200)
    const order = await paid()
    const refund = `/console/orders/${order}/refund`
    expect((await editor.get(refund)).text).toMatch(/<dt>Parts may be refunded<\/dt><dd>No</)
    const before = seller.calls.length
    for (const path of ['refund', 'refunded']) {
      const fields = { quantity: '1', ...(path === 'refunded' ? { type: '1' } : {}) }
      const refused = await editor.submit(`/console/orders/${order}/${path}`, fields)
      expect(refused.status).toBe(400)
      expect(refused.text).toContain('has no partial refunds (partlyRefund is false)')
      expect(refused.text).toContain('value="1"')
      const chinese = await editor.submit(`/console/orders/${order}/${path}?ui_locales=zh-CN`, fields)
      expect(chinese.text).toMatch(/class="alert" role="alert">[\s\S]*<li>[^<]*退款/)
    }
    expect(seller.calls).toHaveLength(before)
    expect((await world.pool.query('select 1 from refund where order_id = $1', [order])).rows).toEqual([])
    expect((await editor.submit(refund, { quantity: '1', partly: 'true' })).status).toBe(303)
    expect(await stateOf(order)).toBe('paid')
  })

  it('shows the result of a failed call, and a link back to the order', async () => {
    const order = await paid()
    const page = `/console/orders/${order}`
    seller.on('/order/refund', refusal(606, 'too few'))
    const refused = await editor.submit(`${page}/refund`)
    expect(refused.status).toBe(200)
    expect(refused.text).toMatch(/class="alert" role="status">The partner refused\./)
    expect(refused.text).toContain('606')
    expect(refused.text).toContain(`href="${page}"`)
    seller.on('/order/query', reset, stands(BigInt(order), 4))
    expect((await editor.submit(`${page}/query`)).text).toContain('the partner may have acted on it')
    expect((await editor.submit(`${page}/query`)).status).toBe(303)
    seller.on('/order/refund', ok({}))
  })

  it('cannot be closed once paid, nor created without required fields, and the partner is not called', async () => {
    const order = await paid()
    const before = seller.calls.length
    const close = await editor.submit(`/console/orders/${order}/close`)
    expect([close.status, close.text]).toEqual([400, expect.stringContaining('cannot become closing')])
    const bad = await editor.submit('/console/-/orders/new', { quantity: '0', visitors: '{', partner_id: 'x' })
    expect(bad.status).toBe(400)
    for (const label of ['PartnerId', 'Product', 'Tickets', 'Visitors'])
      expect(bad.text).toContain(`<strong>${label}</strong>`)
    expect(seller.calls).toHaveLength(before)
    const unpaid = await created()
    expect((await editor.submit(`/console/orders/${unpaid}/close`)).status).toBe(303)
    expect(await stateOf(unpaid)).toBe('closed')
  })

  it('is shown masked and without any steps to a viewer', async () => {
    const order = await paid()
    const { text } = await viewer.get(`/console/orders/${order}`)
    expect(text).not.toContain(`${order}-1`)
    expect(text).toContain('***')
    for (const step of ['pay', 'query', 'refund', 'refunded', 'close', 'new']) {
      expect(text).not.toContain(`/orders/${order}/${step}`)
      expect(
        (await viewer.get(step === 'new' ? '/console/-/orders/new' : `/console/orders/${order}/${step}`)).status,
      ).toBe(403)
    }
  })
})

describe('products of a partner', () => {
  it('are pulled, listed and shown with their prices; a pull reports its result', async () => {
    const list = '/console/partners/7001/products'
    const entries = [
      { ...PRODUCT, partnerDealId: 'p/1' },
      { ...PRODUCT, partnerDealId: 'p-2', title: '' },
    ]
    seller.on('/product/query', ok(entries as object, { totalSize: 2 }))
    const { status, text } = await editor.submit('/console/partners/7001/-/products/pull')
    expect(status).toBe(200)
    expect(text).toContain('Not everything could be pulled.')
    expect(text).toMatch(/<td role="cell" data-label="Entry">p-2<\/td>[\s\S]*must not be empty/)
    expect((await editor.get(list)).text).toContain(`href="/console/partners/7001/-/products/pull">Pull products</a>`)
    expect((await viewer.get(list)).text).toContain(`${list}/p%2F1"`)
    expect((await viewer.get(list)).text).not.toContain('products/pull')
    const prices = { partnerDealId: 'p/1', marketPrice: 12, mtPrice: 10, settlementPrice: 8, stock: -1 }
    seller.on('/product/price/query', ok([{ ...prices, date: '2099-01-01' }] as object))
    const range = { from: '2099-01-01', to: '2099-01-02' }
    const pulled = await editor.submit(`${list}/p%2F1/pull-prices`, range)
    expect(pulled.text).toMatch(/everything is stored[\s\S]*<dt>Stored<\/dt><dd>1</)
    const page = (await viewer.get(`${list}/p%2F1`)).text
    expect(page).toMatch(/2099-01-01[\s\S]*-1/)
    expect(page).toContain('prices: – → 2099-01-01 to 2099-01-02: 1 new or changed, 0 removed')
    const chinese = (await viewer.get(`${list}/p%2F1?ui_locales=zh-CN`)).text
    expect(chinese).toContain('– → 2099-01-01 至 2099-01-02：新增或变更 1 条，移除 0 条')
    expect(page).not.toContain(`${list}/p%2F1/pull`)
    expect((await viewer.get(`${list}/none`)).status).toBe(404)
    expect((await editor.submit(`${list}/p%2F1/pull-prices`, { from: '2099-01-02', to: '2099-01-01' })).status).toBe(
      400,
    )
  })

  it('are listed page by page', async () => {
    await world.pool.query(
      `insert into product (partner_id, partner_deal_id, sale_state, created_at, updated_at)
       select 7001, 'many-' || lpad(n::text, 4, '0'), 'unknown', now(), now() from generate_series(1, 1100) n`,
    )
    const first = (await viewer.get('/console/partners/7001/products')).text
    const [, next = ''] = /href="(\?[^"]*)" rel="next"/.exec(first) ?? []
    const second = (await viewer.get(`/console/partners/7001/products${next.replaceAll('&amp;', '&')}`)).text
    const seen = [...(first + second).matchAll(/>(many-\d{4})</g)].map(([, id]) => id)
    expect([seen.length, new Set(seen).size]).toEqual([1100, 1100])
  })
})

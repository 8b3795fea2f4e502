import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/platform/config/index.ts'
import { newOrderId } from '../../src/ticketing/orders/create-order.ts'
import { html, ok, refusal, reset, slowly, status, worldWithSeller } from '../partner-calls/fake-seller.ts'
import { until } from '../until.ts'
import { desk, newId, stands } from './desk.ts'
import { historyOf, waitingJobs } from './orders.ts'

const { world, seller, close } = await worldWithSeller()
afterAll(close)
const order = desk(world)
beforeEach(() => {
  seller.calls.length = 0
  seller.on('/order/create', ({ orderId }) => ok({ partnerOrderId: `P-${orderId}` }))
})

const jobsOf = async (orderId: bigint) => (await waitingJobs(world.pool)).filter((job) => job.includes(String(orderId)))

describe('createOrder', () => {
  it('stores the order, sends the whole request and keeps the answer', async () => {
    const orderId = 8_985_652_356_562_370_000n
    const visitors = [{ name: '王芳', mobile: '13800000001', credentials: { '0': '110101199001011234' } }]
    const { order: created, failure } = await order.create(orderId, { travel_date: '2026-06-01', visitors })
    expect(failure).toBeNull()
    expect(created).toMatchObject({
      order_id: orderId,
      state: 'created',
      partner_order_id: `P-${orderId}`,
      total_price: 200,
    })
    expect(created.travel_date).toBe('2026-06-01')
    expect(seller.calls.map(({ body }) => body)).toEqual([
      {
        orderId,
        partnerDealId: 'deal-1',
        mtDealId: 1,
        buyPrice: 80,
        unitPrice: 100,
        totalPrice: 200,
        quantity: 2,
        travelDate: '2026-06-01',
        visitors: [{ ...visitors[0], pinyin: '', address: '', postCode: '', email: '' }],
      },
    ])
    expect(await historyOf(world.pool, orderId)).toEqual([
      `order ${orderId}: state null→creating (operator)`,
      expect.stringMatching(
        /^order \d+: state creating→created, last_code null→200, partner_order_id null→P-\d+ \(call [0-9a-f-]+\)$/,
      ),
    ])
    expect(await jobsOf(orderId)).toEqual([])
  })

  it('sends empty lists and texts too, except in fields that older programs do not know', async () => {
    await order.create(newId(), { contact_person: { mobile: '13800000002' } })
    const texts = { name: '', pinyin: '', address: '', postCode: '', email: '' }
    expect(seller.calls[0]?.body).toMatchObject({
      ...{ visitors: [], travelDate: '' },
      contactPerson: { ...texts, mobile: '13800000002', credentials: {} },
    })
    expect(seller.calls[0]?.body).not.toHaveProperty('levelIds')
    expect(seller.calls[0]?.body).not.toHaveProperty('partnerPrimaryKey')
    await order.create(newId(), { partner_primary_key: 'K1', level_ids: ['L1'] })
    expect(seller.calls[1]?.body).toMatchObject({ partnerPrimaryKey: 'K1', levelIds: ['L1'] })
  })

  it.each([
    ['53', 53],
    ['63', 63],
  ])('generates an id of %s bits if none is given', async (ORDER_ID_BITS, bits) => {
    const config = readConfig({ ORDER_ID_BITS })
    const ids = Array.from({ length: 200 }, () => newOrderId(config.ORDER_ID_BITS))
    expect(ids.filter((id) => id < 2n ** BigInt(bits - 1) || id >= 2n ** BigInt(bits))).toEqual([])
    expect(new Set(ids).size).toBe(200)
    expect(ids.every((id) => (BigInt(Number(id)) === id) === (bits === 53))).toBe(true)
  })

  it('refuses, without storing it, an order whose price exceeds the limit of the protocol', async () => {
    const orderId = newId()
    const fields = { unit_price: 99_999_999, quantity: 200 }
    await expect(order.create(orderId, fields)).rejects.toMatchObject({
      problems: [{ field: 'total_price', problem: 'must be from 0 to 99999999.99' }],
    })
    expect(await historyOf(world.pool, orderId)).toEqual([])
    expect(seller.calls).toEqual([])
  })

  it('with a known id returns that order without a second call, and refuses other contents', async () => {
    const orderId = newId()
    await order.create(orderId)
    expect(await order.create(orderId)).toMatchObject({ order: { state: 'created' }, failure: null })
    expect(await order.create(orderId, { unit_price: undefined, mt_deal_id: undefined })).toMatchObject({
      failure: null,
    })
    for (const other of [{ quantity: 3 }, { partner_deal_id: 'deal-2' }, { visitors: [{ name: 'X' }] }]) {
      await expect(order.create(orderId, other)).rejects.toMatchObject({
        describe: `order ${orderId} already exists with other contents`,
      })
    }
    expect(seller.paths()).toEqual(['/order/create'])
  })

  it('many times at once makes one order and one call', async () => {
    const orderId = newId()
    seller.on('/order/create', slowly(ok({ partnerOrderId: 'P' })))
    const answers = await Promise.all(Array.from({ length: 8 }, () => order.create(orderId)))
    expect(seller.paths()).toEqual(['/order/create'])
    expect(answers.filter(({ failure }) => failure !== null)).toEqual([])
    expect((await order.create(orderId)).order.state).toBe('created')
  })

  it('takes prices and the platform’s id from the pulled product', async () => {
    await expect(order.create(newId(), { unit_price: undefined, buy_price: undefined })).rejects.toMatchObject({
      problems: [
        { field: 'unit_price', problem: 'is required: the product is not known' },
        { field: 'buy_price', problem: 'is required: the product is not known' },
      ],
    })
    await world.pool.query(
      `insert into product (partner_id, partner_deal_id, sale_state, details, created_at, updated_at)
       values (7001, 'open', 'on_sale', '{"mtPrice": "0.1", "settlementPrice": 0.07}', now(), now()),
              (7001, 'dated', 'on_sale', '{}', now(), now())`,
    )
    await world.pool.query(
      `insert into product_price (partner_id, partner_deal_id, price_date, mt_price, settlement_price, stock, details, pulled_at)
       values (7001, 'dated', '2026-06-01', 55.5, 44, -1, '{}', now())`,
    )
    const noPrices = { unit_price: undefined, buy_price: undefined, mt_deal_id: undefined }
    const open = await order.create(newId(), { ...noPrices, partner_deal_id: 'open', quantity: 3 })
    expect(open.order).toMatchObject({ unit_price: 0.1, buy_price: 0.07, total_price: 0.3 })
    const dated = await order.create(newId(), { ...noPrices, partner_deal_id: 'dated', travel_date: '2026-06-01' })
    expect(dated.order).toMatchObject({ unit_price: 55.5, buy_price: 44 })
    expect(seller.calls.map(({ body }) => body.mtDealId)).toEqual([100001, 100002])
    await expect(
      order.create(newId(), { ...noPrices, partner_deal_id: 'dated', travel_date: '2026-06-02' }),
    ).rejects.toMatchObject({ problems: [{ field: 'unit_price' }, { field: 'buy_price' }] })
  })

  it('cuts an over-long refusal text without splitting a character', async () => {
    const orderId = newId()
    seller.on('/order/create', refusal(420, `${'a'.repeat(127)}🎫🎫`))
    const { order: created } = await order.create(orderId)
    expect(created).toMatchObject({ state: 'create_failed', last_describe: `420 (out of stock): ${'a'.repeat(127)}` })
  })

  it('ends as create_failed with the reason when the partner refuses, and can be repeated', async () => {
    const orderId = newId()
    seller.on('/order/create', refusal(420, '卖完了'), ok({ partnerOrderId: 'P-2' }))
    expect(await order.create(orderId)).toMatchObject({
      order: { state: 'create_failed', last_code: 420, last_describe: '420 (out of stock): 卖完了' },
      failure: { kind: 'partner-code', code: 420 },
    })
    expect(await order.create(orderId)).toMatchObject({ order: { state: 'created', partner_order_id: 'P-2' } })
    expect(await jobsOf(orderId)).toEqual([])
  })

  it.each([
    ['broken', reset],
    ['http-status', status(500)],
    ['json', html],
    ['schema', ok({})],
  ])(
    'ends as create_unknown when the answer is lost (%s), and asks the partner before sending again',
    async (kind, lost) => {
      const orderId = newId()
      seller.on('/order/create', lost, ok({ partnerOrderId: 'P-late' }))
      expect(await order.create(orderId)).toMatchObject({ order: { state: 'create_unknown' }, failure: { kind } })
      expect(await jobsOf(orderId)).toEqual([`query-order query-order:${orderId}`])
      seller.on('/order/query', status(500), refusal(301, 'never heard of it'))
      expect(await order.create(orderId)).toMatchObject({
        order: { state: 'create_unknown' },
        failure: { kind: 'http-status' },
      })
      expect(await order.create(orderId)).toMatchObject({
        order: { state: 'created', partner_order_id: 'P-late' },
        failure: null,
      })
      expect(seller.paths()).toEqual(['/order/create', '/order/query', '/order/query', '/order/create'])
      expect(await jobsOf(orderId)).toEqual([])
    },
  )

  it('sends again after a lost answer if the partner cannot say whether it has the order', async () => {
    const orderId = newId()
    seller.on('/order/create', reset, ok({ partnerOrderId: 'P-same' }))
    await order.create(orderId)
    seller.on('/order/query', refusal(399, 'no idea'))
    expect(await order.create(orderId)).toMatchObject({ order: { state: 'created', partner_order_id: 'P-same' } })
  })

  it('takes an order that the partner does not know for failed only once a slow partner must have stored it', async () => {
    const orderId = newId()
    seller.on('/order/create', reset)
    await order.create(orderId)
    seller.on('/order/query', refusal(301))
    expect((await order.query(orderId)).order).toMatchObject({ state: 'create_unknown' })
    expect(await jobsOf(orderId)).toHaveLength(1)
    world.clock.advance(60)
    expect((await order.query(orderId)).order).toMatchObject({ state: 'create_failed' })
    expect(await jobsOf(orderId)).toEqual([])
  })

  it('takes an order that the partner calls failed for failed at once, so that it can be closed', async () => {
    const orderId = newId()
    seller.on('/order/create', reset)
    await order.create(orderId)
    seller.on('/order/query', stands(orderId, 3))
    seller.on('/order/close', ok({}))
    expect((await order.close(orderId)).order).toMatchObject({ state: 'closed', close_type: 2 })
    expect(await jobsOf(orderId)).toEqual([])
  })

  it('leaves a row in the audit log each time that an operator asks for it', async () => {
    const orderId = newId()
    seller.on('/order/create', refusal(420), ok({ partnerOrderId: 'P-2' }))
    const actor = { kind: 'operator', name: 'lin', role: 'support', by: 'api' } as const
    const asOperator = desk({ ...world, deps: { ...world.deps, actor } } as unknown as typeof world)
    await asOperator.create(orderId)
    await asOperator.create(orderId)
    const { rows } = await world.pool.query('select event, detail from audit_event where target = $1 order by at', [
      `order:${orderId}`,
    ])
    const asked = { event: 'order_create_asked', detail: { partner_deal_id: 'deal-1', quantity: 2 } }
    expect(rows).toEqual([asked, asked])
  })

  it('needs no second call after a lost answer if the partner has the order', async () => {
    const orderId = newId()
    seller.on('/order/create', reset)
    await order.create(orderId)
    seller.on('/order/query', stands(orderId, 2, { partnerOrderId: 'P-there' }))
    expect(await order.create(orderId)).toMatchObject({ order: { state: 'created', partner_order_id: 'P-there' } })
    expect(seller.paths()).toEqual(['/order/create', '/order/query'])
  })

  it('interrupted by a crash asks the partner once the call must have timed out', async () => {
    const orderId = newId()
    await order.create(orderId)
    await world.pool.query("update ticket_order set state = 'creating', partner_order_id = null where order_id = $1", [
      String(orderId),
    ])
    seller.on('/order/query', refusal(301))
    expect(await order.create(orderId)).toMatchObject({ order: { state: 'creating' }, failure: null })
    await expect(order.query(orderId)).rejects.toMatchObject({
      describe: `order ${orderId} is creating: a call is in progress`,
    })
    expect(seller.paths()).toEqual(['/order/create'])
    world.clock.advance(21)
    expect(await order.create(orderId)).toMatchObject({ order: { state: 'created' } })
    expect(seller.paths()).toEqual(['/order/create', '/order/query', '/order/create'])
  })

  it.each([
    ['connect', 'http://127.0.0.1:1'],
    ['address', 'http://10.0.0.1'],
    ['dns', 'http://nowhere.invalid'],
  ])(
    'ends as create_failed if the partner was not reached (%s), and sends again without asking',
    async (kind, base_url) => {
      const orderId = newId()
      await world.pool.query('update partner set base_url = $1', [base_url])
      expect(await order.create(orderId)).toMatchObject({
        order: { state: 'create_failed', last_code: null },
        failure: { kind },
      })
      await world.pool.query('update partner set base_url = $1', [seller.url])
      expect(await order.create(orderId)).toMatchObject({ order: { state: 'created' }, failure: null })
      expect(seller.paths()).toEqual(['/order/create'])
    },
  )

  it('answered late does not undo what has happened to the order since', async () => {
    const orderId = newId()
    let answer = () => {}
    const late = new Promise<void>((resolve) => {
      answer = resolve
    })
    seller.on('/order/create', async () => {
      await late
      return ok({ partnerOrderId: 'late' })
    })
    const creating = order.create(orderId)
    await until(() => seller.calls.length > 0)
    await world.pool.query(
      "update ticket_order set state = 'paying', revision = revision + 2, state_since = $2 where order_id = $1",
      [String(orderId), world.clock.now()],
    )
    answer()
    expect((await creating).order.state).toBe('paying')
  })

  it('is refused for a partner that is suspended or unknown', async () => {
    await expect(order.create(newId(), { partner_id: 1 })).rejects.toMatchObject({
      describe: 'partner 1 does not exist',
    })
    await world.pool.query("update partner set status = 'suspended'")
    await expect(order.create(newId())).rejects.toMatchObject({ describe: 'partner 7001 is suspended' })
    await world.pool.query("update partner set status = 'active'")
    expect(seller.calls).toEqual([])
  })
})

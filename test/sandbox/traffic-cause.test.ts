import { afterAll, beforeAll, expect, it } from 'vitest'
import { TASKS } from '../../src/operations/jobs/tasks.ts'
import { historyOfOrder } from '../../src/platform/history/index.ts'
import { sendWritten } from '../../src/sandbox/portal/play/send.ts'
import { replay } from '../../src/sandbox/portal/traffic/replay.ts'
import { pullDue } from '../../src/ticketing/catalogue/due-pulls.ts'
import { refundByPlatform } from '../../src/ticketing/orders/refund-order.ts'
import { newRefundedMessage } from '../../src/ticketing/orders/wire.ts'
import { BY_COMMAND, heartbeatWith } from '../../src/ticketing/partner-calls/index.ts'
import { findPartner, type PartnerWithSecrets } from '../../src/ticketing/partners/partner.ts'
import { gatehouse } from '../cli-runner.ts'
import { ADMIN_TOKEN, openWorld, SECRET_KEY, type World } from '../harness.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { desk, newId, stands } from '../orders/desk.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { type FakeSeller, fakeSeller, ok, status } from '../partner-calls/fake-seller.ts'
import { sendNotice } from './notices.ts'
import { get, sellerSession } from './partners.ts'

const BY_CONSOLE = { kind: 'operator', ref: 'console' } as const

/** Why a call to a partner was made, as stored and shown with the call. For steps see certification/steps.test.ts. */

let world: World
let seller: FakeSeller
let partner: PartnerWithSecrets
let cookie: string
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001)
  seller.on('/alive', { code: 200 })
  seller.on('/product/query', ({ partnerDealIds }) =>
    ok(partnerDealIds.map((partnerDealId: string) => ({ ...PRODUCT, partnerDealId }))),
  )
  partner = (await findPartner(world.deps, 7001n)) as PartnerWithSecrets
  cookie = await sellerSession(world, seller)
})
afterAll(async () => {
  await seller?.close()
  await world?.close()
})

const settings = () => ({
  ...{ NODE_ENV: 'test', DATABASE_URL: world.databaseUrl, SECRET_KEY, PARTNER_ADDRESS_ALLOW: '127.0.0.1' },
})
const admin = async (method: 'GET' | 'POST', path: string) =>
  (
    await world.app.inject({ method, url: `/admin/v1${path}`, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  ).json().data
const pull = () => pullDue(world.deps, 7001n, { signal: AbortSignal.timeout(60_000) })
const job = (name: 'query-order' | 'send-refunded-message', payload: object) =>
  TASKS[name](world.deps, payload, { id: '4711', log: world.log, signal: AbortSignal.timeout(60_000) })

/** The newest call, read from the NDJSON export. */
async function newest() {
  const { body } = await get(world, '/sandbox/traffic/export/ndjson?direction=out', cookie)
  const { id, name, cause, cause_ref } = JSON.parse(body.split('\n')[0] ?? '')
  return { id, name, cause, cause_ref }
}
const shown = async (path: string, language: string) =>
  (await get(world, path, cookie, { 'accept-language': language })).body
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

async function orderIn(state: 'paying' | 'paid'): Promise<bigint> {
  const orderId = newId()
  seller.on('/order/create', ok({ orderId, partnerOrderId: `P-${orderId}` }))
  seller.on('/order/pay', state === 'paid' ? ok({ orderId, voucherType: 0 }) : { code: 598, describe: 'later' })
  await desk(world).create(orderId)
  await desk(world).pay(orderId)
  world.clock.advance(60)
  return orderId
}

/** What triggers a call, and how its cause is stored and shown. */
const CAUSES: readonly (readonly [
  what: string,
  trigger: () => Promise<unknown>,
  stored: { name: string; cause: string; cause_ref: unknown },
  en: string,
  zh: string,
])[] = [
  [
    'a notice that a product has changed',
    async () => {
      const body = '{"body":[{"partnerDealId":"D1","status":1}]}'
      expect((await sendNotice(world, seller, { path: '/mtp/api/deal/change/notice', body })).code).toBe(200)
      await pull()
    },
    { name: 'product-pull', cause: 'notice', cause_ref: 'deal-change' },
    'Triggered by: Product change notice',
    '触发：产品变更通知',
  ],
  [
    'a notice with level prices of an unknown product',
    async () => {
      const [startTime, endTime] = ['2026-06-01', '2026-06-01']
      const sku = { startTime: '09:00', endTime: '11:30', levelInfoList: [{ levelNo: 'A', levelName: 'Stalls' }] }
      const price = { marketPrice: '120.00', mtPrice: '100.00', settlementPrice: '80.00', stock: 3 }
      const entry = { partnerPrimaryKey: 'A', skuInfo: sku, priceDate: startTime, ...price }
      const body = JSON.stringify({ partnerId: 7001, partnerDealId: 'L1', startTime, endTime, body: [entry] })
      expect(await sendNotice(world, seller, { path: '/mtp/api/level/price/notice/v2', body })).toMatchObject({
        code: 200,
      })
      await pull()
    },
    { name: 'product-pull', cause: 'notice', cause_ref: 'level-prices' },
    'Triggered by: Level price notice',
    '触发：层级价格通知',
  ],
  [
    'a job that queries an order until it is decided',
    async () => {
      const orderId = await orderIn('paying')
      seller.on('/order/query', stands(orderId, 2))
      await job('query-order', { orderId: String(orderId), asked: 0 })
    },
    { name: 'order-query', cause: 'schedule', cause_ref: '4711' },
    'Schedule of the platform',
    '平台定时任务',
  ],
  [
    'a job that resends an undelivered message',
    async () => {
      const orderId = await orderIn('paid')
      seller.on('/order/refunded', status(500), ok({}))
      const message = newRefundedMessage.parse({ order_id: orderId, refund_id: 'R-1', type: 1 })
      await refundByPlatform(world.deps, message, BY_CONSOLE)
      world.clock.advance(1)
      await job('send-refunded-message', { orderId: String(orderId), refundId: 'R-1', type: 1 })
    },
    { name: 'order-refunded', cause: 'schedule', cause_ref: '4711' },
    'Schedule of the platform',
    '平台定时任务',
  ],
  [
    'an operator over the admin API',
    () => admin('POST', '/partners/7001/products/D3/pull'),
    { name: 'product-pull', cause: 'operator', cause_ref: 'api' },
    'Operator of the platform (admin API)',
    '平台运营人员（管理接口）',
  ],
  [
    'an operator on the console',
    () => callPartner(world.deps, partner, 'heartbeat', {}, { cause: BY_CONSOLE }),
    { name: 'heartbeat', cause: 'operator', cause_ref: 'console' },
    'Operator of the platform (console)',
    '平台运营人员（控制台）',
  ],
  [
    'the playground',
    () =>
      sendWritten(world.deps, partner, 'heartbeat', {
        body: '{"partnerId":7001,"body":{}}',
        sign: 'right',
        expect: 'success',
      }),
    { name: 'heartbeat', cause: 'playground', cause_ref: null },
    'Playground',
    '试一试',
  ],
  [
    'the check of a new secret',
    () =>
      heartbeatWith(world.deps)(partner, {
        secret_id: '0',
        last_used_at: null,
        signs: false,
        secret: 'another-secret-that-is-long-enough',
      }),
    { name: 'heartbeat', cause: 'new-secret', cause_ref: null },
    'Check of a new clientSecret',
    '验证新的 clientSecret',
  ],
]

it.each(CAUSES)('a call shows its cause: %s', async (_what, trigger, stored, en, zh) => {
  world.clock.advance(5)
  await trigger()
  const { id, ...found } = await newest()
  expect(found).toEqual(stored)
  for (const [language, words] of [
    ['en', en],
    ['zh-CN', zh],
  ] as const) {
    expect(await shown(`/sandbox/traffic/call/${id}`, language)).toContain(words)
    expect(await shown('/sandbox/traffic?direction=out', language)).toContain(words)
  }
})

it('a replay names the call that it repeats', async () => {
  world.clock.advance(5)
  const { callId } = await callPartner(world.deps, partner, 'heartbeat', {})
  world.clock.advance(5)
  await replay(world.deps, 7001n, { kind: 'call', id: callId })
  const { id, ...found } = await newest()
  expect(found).toEqual({ name: 'heartbeat', cause: 'replay', cause_ref: callId })
  expect(await shown(`/sandbox/traffic/call/${id}`, 'zh-CN')).toContain('调用原因 重放')
})

it('the history of an order names a job and an operator as causes', async () => {
  const orderId = await orderIn('paying')
  world.clock.advance(3_600)
  await world.pool.query("update ticket_order set state = 'creating' where order_id = $1", [orderId])
  seller.on('/order/query', stands(orderId, 2))
  await job('query-order', { orderId: String(orderId), asked: 0 })
  const causes = (await historyOfOrder(world.deps.db, orderId)).map(({ cause, cause_id }) => [cause, cause_id])
  expect(causes[0]).toEqual(['operator', null])
  expect(causes).toContainEqual(['job', '4711'])
})

it('operators and exports see the same cause', async () => {
  world.clock.advance(5)
  const pulled = await gatehouse(settings(), ...'product pull D4 --partner-id 7001'.split(' '))
  expect(pulled.stdout).toMatch(/^pulled +D4$/m)
  const { rows } = await world.pool.query(`select call_id from partner_call where request_body like '%"D4"%'`)
  const stored = { cause: BY_COMMAND.kind, cause_ref: BY_COMMAND.ref }
  const id = rows[0]?.call_id
  expect(await newest()).toEqual({ id, name: 'product-pull', ...stored })
  expect((await admin('GET', '/traffic?partner_id=7001&limit=1')).traffic[0]).toMatchObject({ id, ...stored })
  expect(await admin('GET', `/traffic/${id}`)).toMatchObject({ id, ...stored })
  const har = JSON.parse((await get(world, '/sandbox/traffic/export/har?direction=out', cookie)).body)
  expect(har.log.entries[0]).toMatchObject({ _cause: 'operator', _cause_ref: 'command' })
  const list = await gatehouse(settings(), ...'traffic list --partner-id 7001 --limit 1'.split(' '))
  expect(list.stdout).toMatch(/ CAUSE +ID.*\n.* operator command +call\//)
  expect((await gatehouse(settings(), 'traffic', 'show', id)).stdout).toMatch(/\ncause +operator\ncause_ref +command\n/)
})

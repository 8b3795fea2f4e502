import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { aesDecrypted, aesEncrypted } from '../aes.ts'
import { until } from '../until.ts'
import { Client } from './client.ts'
import { httpWire } from './http.ts'
import { CONSUME, DEAL_CHANGE, LEVEL_PRICES, makeSeller, REFUND, type Seller, send, success } from './seller.ts'
import { type RunningProcess, startProcess } from './system.ts'

/**
 * A whole order with everything encrypted in both directions, while the service is killed with kill -9. The seller
 * decrypts and encrypts with openssl.
 */

const KEY = '2b7e151628aed2a6abf7158809cf4f3c'
const DEAL = 'encrypted show'
const DAY = '2027-06-01'
const PRIMARY = `${DAY}/A`
const ORDER = 8985652356590000001n
const VOUCHERS = ['V-1', 'V-2', 'V-3']

let folder: string
let running: RunningProcess
let server: Server
let seller: Seller

/** The calls that the seller received: whether encrypted, the text, and the body on the wire. */
const calls: { path: string; encrypted: boolean; appKey: unknown; text: string; wire: string }[] = []
/** Called once after tickets have been issued, before the answer is sent. */
let beforePayAnswer: (() => Promise<void>) | undefined
let paid = false

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON was sent
function answerTo(path: string, body: any): object {
  const order = { orderId: String(ORDER), partnerOrderId: 'P-1' }
  switch (path) {
    case '/order/create':
      return { partnerOrderId: 'P-1' }
    case '/order/pay':
      paid = true
      return { ...order, voucherType: 1, vouchers: VOUCHERS }
    case '/order/query': {
      const voucherList = VOUCHERS.map((voucher) => ({
        voucher,
        voucherInvalidTime: '2027-12-31 23:59:59',
        quantity: 1,
        status: 0,
      }))
      const counts = { orderQuantity: 3, usedQuantity: 0, refundedQuantity: 0 }
      return { ...order, orderStatus: paid ? 4 : 2, ...counts, voucherType: 1, ...(paid ? { voucherList } : {}) }
    }
    case '/order/refund':
      return { ...order, refundId: body.refundId }
    default:
      return {}
  }
}

const start = () => startProcess({ DATA_DIR: folder, DEMO: 'off' })
const client = () => new Client(httpWire(running.origin), running.origin)
const shown = async () => (await client().admin('GET', `/orders/${ORDER}`)) as { order: Record<string, unknown> }
const state = async () => String((await shown()).order.state)

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-encrypted-'))
  chmodSync(folder, 0o755)
  server = createServer(async (request, response) => {
    const wire = Buffer.concat(await request.toArray()).toString()
    const encrypted = request.headers['x-encryption-status'] === 'encrypted'
    const text = encrypted ? aesDecrypted(KEY, wire) : wire
    const path = request.url ?? ''
    calls.push({ path, encrypted, appKey: request.headers.appkey, text, wire })
    const readable = text.replace(/"orderId":(\d+)/, '"orderId":"$1"')
    const pending =
      calls.at(-1)?.path === '/order/refund'
        ? { code: 602, describe: 'under review' }
        : { code: 200, describe: 'success' }
    const answer = JSON.stringify({
      ...pending,
      partnerId: seller.partnerId,
      body: answerTo(path, JSON.parse(readable).body),
    })
    if (path === '/order/pay') await beforePayAnswer?.()
    const headers = { 'Content-Type': 'application/json', ...(encrypted ? { 'X-Encryption-Status': 'encrypted' } : {}) }
    response.writeHead(200, headers).end(encrypted ? aesEncrypted(KEY, answer) : answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  running = await start()
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  seller = await makeSeller(client(), { base_url })
  await client().admin('PUT', `/partners/${seller.partnerId}/aes-key`, { aes_key: KEY })
  await client().admin('PATCH', `/partners/${seller.partnerId}`, { encrypts_calls: true })
})
afterAll(async () => {
  await running?.stop()
  server?.closeAllConnections()
  server?.close()
  rmSync(folder, { recursive: true, force: true })
})

const killAndStartAgain = async () => {
  await running.kill()
  running = await start()
}

/** Sends an encrypted and signed notice repeatedly until it is acknowledged. */
async function tell(path: string, notice: object | string): Promise<void> {
  const text = typeof notice === 'string' ? notice : JSON.stringify({ partnerId: seller.partnerId, ...notice })
  const sending = {
    path,
    body: aesEncrypted(KEY, text),
    headers: { 'X-Encryption-Status': 'encrypted', AppKey: seller.clientId },
  }
  const answers: unknown[] = []
  await until(
    async () => {
      const answer = await send(running.origin, seller, sending).catch(() => undefined)
      answers.push(answer?.text)
      return answer?.text === success(seller)
    },
    () => answers.slice(-3),
  )
}

const consumed = (used: number, refunded: number): string =>
  `{"partnerId":${seller.partnerId},"body":{"orderId":${ORDER},"partnerOrderId":"P-1","quantity":3,"usedQuantity":${used},"refundedQuantity":${refunded}}}`

it('an order with everything encrypted reaches its correct end although the service is killed on the way', async () => {
  await tell(DEAL_CHANGE, { body: [{ partnerDealId: DEAL, status: 0 }] })
  await tell(LEVEL_PRICES, {
    partnerDealId: DEAL,
    startTime: DAY,
    endTime: DAY,
    body: [
      {
        partnerPrimaryKey: PRIMARY,
        skuInfo: { startTime: '19:00', endTime: '21:00', levelInfoList: [{ levelNo: 'A', levelName: 'Stalls' }] },
        priceDate: DAY,
        ...{ marketPrice: '120.00', mtPrice: '100.00', settlementPrice: '80.50', stock: 20 },
      },
    ],
  })
  const wish = { partner_id: seller.partnerId, order_id: String(ORDER), partner_deal_id: DEAL, quantity: 3 }
  await client().admin('POST', '/orders', { ...wish, travel_date: DAY, partner_primary_key: PRIMARY })
  expect(await state()).toBe('created')
  const create = calls.find(({ path }) => path === '/order/create')
  expect(create?.text).toContain('"buyPrice":80.5')
  expect(create?.text).toContain(`"orderId":${ORDER}`)

  // The service dies after the tickets are issued, before it gets the answer.
  beforePayAnswer = async () => {
    beforePayAnswer = undefined
    await killAndStartAgain()
  }
  await client()
    .admin('POST', `/orders/${ORDER}/pay`)
    .catch(() => undefined)
  await until(async () => {
    await client()
      .admin('POST', `/orders/${ORDER}/query`)
      .catch(() => undefined)
    return (await state().catch(() => '')) === 'paid'
  }, shown)
  expect(calls.filter(({ path }) => path === '/order/pay')).toHaveLength(1)

  // The service dies again while the seller reports visitors until it is acknowledged.
  const told = tell(CONSUME, consumed(1, 0))
  await killAndStartAgain()
  await told
  expect((await shown()).order).toMatchObject({ used_quantity: 1 })

  await client().admin('POST', `/orders/${ORDER}/refund`, { refund_id: 'R-1', quantity: 1, vouchers: ['V-3'] })
  const decided = `{"code":200,"describe":"success","body":{"orderId":${ORDER},"refundId":"R-1","partnerOrderId":"P-1"}}`
  await tell(REFUND, decided.replace('{', `{"partnerId":${seller.partnerId},`))
  await tell(CONSUME, consumed(2, 1))
  expect((await shown()).order).toMatchObject({ state: 'consumed', used_quantity: 2, refunded_quantity: 1 })

  const about = calls.filter(({ path }) => path.startsWith('/order/'))
  expect(new Set(about.map(({ path }) => path))).toEqual(
    new Set(['/order/create', '/order/pay', '/order/query', '/order/refund']),
  )
  for (const { path, encrypted, appKey, wire } of about) {
    expect([path, encrypted, appKey]).toEqual([path, true, seller.clientId])
    expect(wire).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
  }
  expect(running.output()).not.toContain(KEY)
})

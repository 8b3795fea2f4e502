import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect } from 'vitest'
import { aesEncrypted } from '../aes.ts'
import { seedOrder, seedRefund } from '../orders/orders.ts'
import { signatureOf } from '../signer.ts'
import type { Canaries } from './canaries.ts'
import { Client } from './client.ts'
import { httpWire } from './http.ts'
import {
  CONSUME,
  consumption,
  DEAL_CHANGE,
  decision,
  LEVEL_PRICES,
  makeSeller,
  REFUND,
  type Seller,
  type Sending,
  SIGNATURE_TEST,
  send,
  success,
} from './seller.ts'

/**
 * Sends notices with planted texts in every place: some are accepted, others fail as deep inside the service as
 * possible.
 */

let orderId = 8985652356600000000n
async function newOrder(pool: pg.Pool, { partnerId }: Seller): Promise<void> {
  orderId += 1n
  await seedOrder(pool, { orderId, partnerId: Number(partnerId), quantity: 3, vouchers: ['A'] })
  await seedRefund(pool, { refundId: `R${orderId}`, orderId, partnerId: Number(partnerId) })
}

const PATHS = [CONSUME, REFUND, DEAL_CHANGE, LEVEL_PRICES, SIGNATURE_TEST].flatMap((path) => [path, `/rhone${path}`])

/** Bodies that each have another text of a notice replaced by a planted one; most are refused, as late as possible. */
function bodiesOf(canaries: Canaries, place: string): string[] {
  const plant = (field: string) => canaries.plant(`${place}: body ${field}`)
  const voucher = (text: string, more = '') =>
    `,"voucherList":[{"voucher":"${text}","voucherPics":"${plant('voucherPics')}","voucherInvalidTime":"2026-12-31 23:59:59","quantity":1,"status":1${more}}]`
  const credential = `,"credentialList":[{"credentialType":0,"credentialNo":"${plant('credentialNo')}"}]`
  const right = consumption({ orderId })
  return [
    consumption({ orderId, more: voucher(plant('voucher')) }),
    consumption({ orderId, more: voucher('A') + credential }),
    consumption({ orderId, more: `${voucher('A')},"${plant('a name')}":1,"remark":"${plant('remark')}"` }),
    right.replace('"P-1"', `"${plant('partnerOrderId')}"`),
    right.replace('"P-1"', `{"${plant('partnerOrderId as object')}":1}`),
    consumption({ orderId: `"${plant('orderId')}"` }),
    consumption({ orderId, used: `"${plant('usedQuantity')}"` }),
    consumption({ orderId, more: `,"useStartDate":"${plant('useStartDate')}"` }),
    `{"partnerId":"${plant('partnerId')}","body":{}}`,
    `{"${plant('a name twice')}":1,"${plant('another')}":2}`.replace(/"(cnry\w+)":1,"cnry\w+":2/, '"$1":1,"$1":2'),
    decision(orderId, `R${orderId}`, 200, plant('describe')),
    decision(orderId, plant('refundId'), 699, plant('describe')),
    decision(orderId, `R${orderId}`, 606, plant('describe of a second decision')),
    `{"body":[{"partnerDealId":"${plant('partnerDealId')}","status":5}]}`,
    `{"body":[{"partnerDealId":"D","status":"${plant('status')}"}]}`,
    `{"partnerDealId":"${plant('partnerDealId of prices')}","startTime":"2026-06-01","endTime":"2026-06-01","body":[{"partnerPrimaryKey":"${plant('partnerPrimaryKey')}","skuInfo":{},"priceDate":"2026-06-01","marketPrice":1,"mtPrice":1,"settlementPrice":1,"stock":1}]}`,
    plant('no JSON'),
    `{"body":"${plant('cut off')}`,
    `{"body":${plant('no value')}}`,
    `"${plant('nested')}"${'['.repeat(100)}`,
  ]
}

const HEADERS = [
  'Content-Type',
  'PartnerId',
  'Date',
  'Authorization',
  'Cookie',
  'User-Agent',
  'X-Forwarded-For',
  'X-Sign',
]

function headersOf(canaries: Canaries, place: string, { clientId }: Seller): Sending[] {
  const single = HEADERS.map((name) => ({ headers: { [name]: canaries.plant(`${place}: header ${name}`) } }))
  const planted = canaries.plant(`${place}: signature`)
  const odd = [`MWS ${clientId}:${planted}`, `MWS ${planted}`, `mws ${clientId}:${planted}`, `MWS ${planted}:x`]
  const type = canaries.plant(`${place}: Content-Type parameters`)
  return [
    ...single,
    ...odd.map((Authorization) => ({ headers: { Authorization } })),
    { headers: { Authorization: [`MWS ${clientId}:${planted}`, planted] } },
    { headers: { 'Content-Type': `application/json; charset=${type}` } },
    { headers: { 'Content-Type': `${type}/` } },
    { date: `Wed, 06 May 2026 10:34:20 ${canaries.plant(`${place}: zone`)}` },
  ]
}

/** Hangs up in the middle of a body. */
async function hangUp(canaries: Canaries, origin: string, path: string): Promise<void> {
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const planted = canaries.plant(`${path}: a body that broke off`)
  socket.write(`POST ${path}?${planted} HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n{"${planted}`)
  await sleep(30)
  socket.destroy()
}

const TABLES = [
  'notice',
  'rejected_call',
  'ticket_order',
  'voucher',
  'refund',
  'record_change',
  'product',
  'failed_attempt',
]

interface Driven {
  readonly calls: number
  /** Number of server errors. */
  readonly failures: number
}

/**
 * Sends notices to one process. With `whole`, to each path and with each table in turn refusing rows or missing;
 * otherwise with a few of both.
 */
export async function plantInNotices(
  canaries: Canaries,
  { databaseUrl, origin, whole }: { databaseUrl: string; origin: string; whole: boolean },
): Promise<Driven> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  let [calls, failures] = [0, 0]
  const client = new Client(httpWire(origin), origin)
  const first = await makeSeller(client)
  const { client_secret } = await client.admin('POST', `/partners/${first.partnerId}/rotate-secret`, {})
  const seller = { ...first, clientSecret: String(client_secret) }
  canaries.guard('clientSecret', first.clientSecret)
  const made = await client.admin('POST', `/partners/${first.partnerId}/make-aes-key`)
  const aesKey = canaries.guard('AES key', String(made.aes_key))
  canaries.guard('clientSecret, rotated', seller.clientSecret)
  const date = new Date().toUTCString()
  const paths = whole ? PATHS : [CONSUME]
  for (const path of paths) {
    canaries.guard(`signature of ${path}`, signatureOf({ path, date, secret: seller.clientSecret }))
  }
  const post = async (sending: Sending) => {
    calls++
    const answer = await send(origin, seller, { date, ...sending }).catch(() => undefined)
    if (answer && answer.status >= 500) failures++
    return answer?.text
  }
  const notices = whole ? [CONSUME, REFUND, DEAL_CHANGE, LEVEL_PRICES] : [CONSUME]
  /**
   * Decrypted bodies take the same path as plain ones, so they are sent only with all tables intact and when `notice`
   * refuses rows.
   */
  const sendAll = async (place: string, { to = notices, encrypted = false } = {}) => {
    for (const path of to) {
      for (const body of bodiesOf(canaries, `${place} ${path}`)) await post({ path, body })
      for (const body of encrypted ? bodiesOf(canaries, `${place} ${path}, encrypted`) : [])
        await post({ path, body: aesEncrypted(aesKey, body) })
      const [body = ''] = bodiesOf(canaries, `${place} ${path}, not signed`)
      await post({ path, body, signed: { secret: 'wrong' } })
    }
  }

  await newOrder(pool, seller)
  expect(await post({ body: consumption({ orderId }) })).toBe(success(seller))
  for (const path of paths) {
    await newOrder(pool, seller)
    for (const sending of headersOf(canaries, path, seller)) {
      await post({ path, body: consumption({ orderId }), ...sending })
    }
    const query = canaries.plant(`${path}: query`)
    await post({ path: `${path}?sign=${query}` })
    await post({ path: `${path}/${query}` })
    await post({ path: `${path}%zz${query}` })
    await post({ method: 'PUT', path: `${path}?${query}`, body: query })
    await hangUp(canaries, origin, path)
  }
  await newOrder(pool, seller)
  await sendAll('all is well,', { to: paths, encrypted: true })
  await post({ body: `"${canaries.plant('2 MiB')}${'x'.repeat(2 ** 21)}"` })
  for (const table of whole ? TABLES : ['notice']) {
    await newOrder(pool, seller)
    await pool.query(`alter table ${table} add constraint refuse_all check (false) not valid`)
    await sendAll(`${table} refuses rows,`, { encrypted: table === 'notice' })
    await pool.query(`alter table ${table} drop constraint refuse_all`)
  }
  for (const table of whole ? ['partner', 'partner_secret', 'notice'] : ['partner']) {
    await newOrder(pool, seller)
    await pool.query(`alter table ${table} rename to ${table}_gone`)
    await sendAll(`${table} is gone,`)
    await pool.query(`alter table ${table}_gone rename to ${table}`)
  }
  await pool.end()
  return { calls, failures }
}

import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { seedOrder } from '../../orders/orders.ts'
import { until } from '../../until.ts'
import { Client } from '../client.ts'
import { httpWire } from '../http.ts'
import { CONSUME, consumption, makeSeller, type Seller, type Sending, send, success } from '../seller.ts'
import { type System, sharedSystem } from '../system.ts'

/** Refused calls are kept with their reason, headers (the signature shortened) and body. */

let system: System
let pool: pg.Pool
let client: Client
let seller: Seller

beforeAll(async () => {
  system = await sharedSystem()
  pool = new pg.Pool({ connectionString: system.databaseUrl, max: 1 })
  client = new Client(httpWire(system.origin), system.origin)
})
afterAll(async () => {
  await pool?.end()
})

// A new partner for each test, because only a limited number of calls is kept per partner.
beforeEach(async () => {
  seller = await makeSeller(client)
})

const post = (sending: Sending, by = seller) => send(system.origin, by, sending)

interface Kept {
  readonly reason: string
  readonly headers: Record<string, string>
  readonly body: string
  readonly answer: string
  readonly path: string
  readonly client_id: string
}

const keptNow = async (by = seller): Promise<Kept[]> =>
  (await pool.query('select * from rejected_call where partner_id = $1 order by received_at, call_id', [by.partnerId]))
    .rows

/** Waits, because unverified calls are stored after the answer. */
const kept = async (least = 1, by = seller): Promise<Kept[]> => {
  await until(async () => (await keptNow(by)).length >= least)
  return keptNow(by)
}

describe('a refused call is kept', () => {
  it('whole, except its signature and the values of headers that may hold a credential', async () => {
    const body = consumption({ orderId: 5n })
    const { text } = await post({
      path: `/rhone${CONSUME}?trace=1`,
      body,
      headers: { 'User-Agent': 'seller/1.0', 'X-Api-Key': 'credential', Cookie: 'a=credential' },
    })
    const [call] = await kept()
    expect(call).toMatchObject({
      reason: 'order 5 does not exist',
      path: `/rhone${CONSUME}`,
      client_id: seller.clientId,
      answer: text,
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'seller/1.0',
        'x-api-key': '[not kept]',
        partnerid: seller.partnerId,
      },
    })
    expect(JSON.stringify(call)).not.toContain('credential')
    expect(call?.headers.authorization).toMatch(new RegExp(`^MWS ${seller.clientId}:[A-Za-z0-9+/]{4}…$`))
    expect(call?.headers.date).toMatch(/ GMT$/)
  })

  it.each<[string, Sending, string]>([
    ['a signature that does not fit', { signed: { newline: '' } }, 'the signature does not match'],
    ['no Date', { headers: { Date: undefined } }, 'Date is missing'],
    ['a Date doubled', { headers: { Date: ['x', 'y'] } }, 'date was sent more than once'],
    ['a Date that is none', { date: 'today' }, 'Date: not of the form "Tue, 05 May 2015 06:11:34 GMT"'],
    ['a Date of long ago', { date: 'Tue, 05 May 2015 06:11:34 GMT' }, 'Date differs from our clock by'],
    ['the PartnerId of another', { headers: { PartnerId: '1' } }, 'PartnerId does not belong to the clientId'],
    ['a body that is no JSON', { body: '<xml/>' }, 'HTTP body: not JSON'],
    ['another content type', { body: '{}', headers: { 'Content-Type': 'text/plain' } }, 'Content-Type must be'],
  ])('with its reason: %s', async (_name, sending, reason) => {
    await post(sending)
    const calls = await kept()
    expect(calls).toHaveLength(1)
    expect(calls[0]?.reason).toEqual(expect.stringContaining(reason))
    expect(calls[0]?.body).toBe(sending.body ?? '')
  })

  it('if its partner is suspended', async () => {
    await client.admin('POST', `/partners/${seller.partnerId}/suspend`)
    await post({})
    expect(await kept()).toMatchObject([{ reason: 'the partner is suspended' }])
  })

  it.each<[string, string | Buffer, string | RegExp]>([
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), '{\ufffd}'],
    ['NUL', '\0{', '\ufffd{'],
    ['NUL behind JSON', `${consumption({ orderId: 1n })}\0`, /\ufffd$/],
    ['2 MiB', 'x'.repeat(2 ** 21), '(larger than 1 MiB)'],
    ['1 MiB', '😀'.repeat(2 ** 18), /^(?:(?:😀){8192}|(?:😀){512})$/u],
  ])('whatever its body: %s', async (_name, body, expected) => {
    await post({ body })
    const calls = await kept()
    expect(calls).toHaveLength(1)
    expect(calls[0]?.body).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
  })

  it('without its body if the signature is wrong, because the body was not read', async () => {
    await post({ body: '{"secret":"of nobody"}', signed: { secret: 'wrong' } })
    expect(await kept()).toMatchObject([{ body: '(not read: the signature was checked first)' }])
  })

  it('without its body and with the nearest correct path if the path is wrong', async () => {
    await post({ path: '/mtp/api/order/consum/notice', body: '{"of":"nobody"}' })
    expect(await kept()).toMatchObject([
      {
        reason: 'no such path; the nearest path is POST /mtp/api/order/consume/notice',
        body: '(not read: the path does not exist)',
      },
    ])
  })

  it('without its body if the method is wrong', async () => {
    await post({ method: 'PUT', body: '{"of":"nobody"}' })
    expect(await kept()).toMatchObject([
      { reason: 'method not allowed: PUT; use POST', body: '(not kept: the method is not POST)' },
    ])
  })

  it('whatever its headers', async () => {
    await post({ headers: { 'User-Agent': 'caf\u00e9 \\u0000 "\\', 'X-Long': 'y'.repeat(20_000) } })
    expect(await kept()).toMatchObject([{ headers: { 'user-agent': 'caf\u00e9 \\u0000 "\\' } }])
  })
})

describe('nothing is kept', () => {
  it('of a call without a known clientId and a signature', async () => {
    const before = (await system.query('select count(*)::int as n from rejected_call'))[0]
    await post({ headers: { Authorization: undefined } })
    await post({ headers: { Authorization: 'MWS nobody:AAAAAAAAAAAAAAAAAAAAAAAAAAA=' } })
    await post({ headers: { Authorization: `MWS ${seller.clientId}` } })
    expect((await system.query('select count(*)::int as n from rejected_call'))[0]).toEqual(before)
  })

  it('of an accepted call', async () => {
    await seedOrder(pool, { orderId: 77n, partnerId: Number(seller.partnerId), quantity: 3 })
    expect((await post({ body: consumption({ orderId: 77n }) })).text).toBe(success(seller))
    expect(await kept(0)).toEqual([])
  })
})

describe('a stranger who knows a clientId', () => {
  it('cannot fill the table or displace the refused calls of the partner itself', async () => {
    for (let sent = 0; sent < 260; sent += 20) {
      await Promise.all(Array.from({ length: 20 }, () => post({ signed: { secret: 'wrong' } })))
    }
    expect((await kept()).length).toBeLessThanOrEqual(50)
    await post({ body: consumption({ orderId: 5n }) })
    expect((await kept()).map(({ reason }) => reason)).toContainEqual('order 5 does not exist')
  })
})

it('a client that hangs up in the middle of its body is not logged as an error', async () => {
  const { hostname, port } = new URL(system.origin)
  const printed = () => system.processes[0]?.output() ?? ''
  const before = printed().length
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST ${CONSUME} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"body`,
  )
  await sleep(100)
  socket.destroy()
  await sleep(100)
  await post({})
  expect(printed().slice(before)).not.toMatch(/unexpected failure|ERROR/)
})

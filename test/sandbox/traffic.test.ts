import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RescodeError } from '../../src/platform/lib/web/rescode.ts'
import { showEntry, type TrafficEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { listTraffic, type TrafficPage } from '../../src/sandbox/portal/traffic/list.ts'
import { trafficQuery } from '../../src/sandbox/portal/traffic/wire.ts'
import { findPartner, type PartnerWithSecrets } from '../../src/ticketing/partners/partner.ts'
import { openWorld, type World } from '../harness.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { type FakeSeller, fakeSeller, huge, ok, refusal, status } from '../partner-calls/fake-seller.ts'
import { sendNotice } from './notices.ts'

let world: World
let seller: FakeSeller
let other: FakeSeller
let partner: PartnerWithSecrets

beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001)
  other = await fakeSeller(world, 7002)
  partner = (await findPartner(world.deps, 7001n)) as PartnerWithSecrets
})
afterAll(async () => {
  await seller.close()
  await other.close()
  await world.close()
})

const list = (query: object = {}, partnerId = 7001n): Promise<TrafficPage> =>
  listTraffic(world.deps, partnerId, trafficQuery.parse(query))
const show = (kind: TrafficEntry['kind'], id: string, partnerId = 7001n) =>
  showEntry(world.deps, partnerId, { kind, id })
const production = () => ({ ...world.deps, config: { ...world.deps.config, NODE_ENV: 'production' as const } })

/** The newest entry in full. */
async function newest(): Promise<TrafficEntry> {
  const { lines } = await list()
  const [line] = lines
  if (!line) throw new Error('nothing is kept')
  return show(line.kind, line.id)
}
const call = async (
  ...args: Parameters<typeof callPartner> extends [unknown, unknown, ...infer Rest] ? Rest : never
) => {
  world.clock.advance(1)
  const { callId } = await callPartner(world.deps, partner, ...args)
  return show('call', callId)
}
const notice = (sending: Partial<Parameters<typeof sendNotice>[2]> = {}, by = seller) => {
  world.clock.advance(1)
  return sendNotice(world, by, {
    path: '/mtp/api/deal/change/notice',
    body: '{"body":[{"partnerDealId":"D1","status":1}]}',
    ...sending,
  })
}

describe('a call of the platform', () => {
  it('is shown in full, with exact ids and a shortened signature', async () => {
    seller.on(
      '/order/query',
      ok({ orderId: 9007199254740993n, orderStatus: 4, orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0 }),
    )
    const entry = await call(
      'order-query',
      { orderId: 9007199254740993n, partnerOrderId: 'P-1' },
      { orderId: 9007199254740993n },
    )
    expect(entry).toMatchObject({
      kind: 'call',
      direction: 'out',
      name: 'order-query',
      outcome: { name: 'succeeded', tone: 'good' },
      code: 200,
      orderId: '9007199254740993',
      problems: [],
    })
    expect(entry.request.url).toBe(`${seller.url}/order/query`)
    expect(entry.request.body.text).toContain('\n    "orderId": 9007199254740993')
    expect(entry.response).toMatchObject({ status: 200 })
    expect(entry.response?.body.text).toContain('"orderId": 9007199254740993')
    const headers = Object.fromEntries(entry.request.headers ?? [])
    expect(headers.Authorization).toMatch(/^MWS seller-7001:.{4}…$/)
    expect(entry.stringToSign).toBe(`POST /order/query\n${headers.Date}`)
    expect(entry.durationMs).toBeGreaterThanOrEqual(0)
    expect(entry.obstacle).toBeUndefined()
  })

  it('links each wrong field to the reference', async () => {
    seller.on('/product/query', ok([{ partnerDealId: 'D1' }] as unknown as object))
    const entry = await call('product-pull', { method: 'multi', partnerDealIds: ['D1'] })
    expect(entry.outcome.name).toBe('failed')
    expect(entry.failure?.kind).toBe('schema')
    expect(entry.problems).toContainEqual({
      path: 'body[0].title',
      problem: 'is required',
      docs: '/sandbox/docs#product-pull.answer.body.title',
    })
  })

  it('keeps numbers as the partner wrote them, and other text than JSON as it came', async () => {
    seller.on('/alive', status(200, {}, '{"code":200,"price":1.10,"id":123456789012345678901234567890}'))
    const text = (await call('heartbeat', {})).response?.body.text
    expect(text).toContain('"price": 1.10')
    expect(text).toContain('"id": 123456789012345678901234567890')
    seller.on('/alive', status(500, {}, '<h1>no</h1>'))
    const entry = await call('heartbeat', {})
    expect(entry.response).toMatchObject({ status: 500, body: { text: '<h1>no</h1>' } })
    expect(entry.failure).toMatchObject({ kind: 'http-status' })
  })

  it('shows the beginning of a long answer, and says so', async () => {
    seller.on('/alive', status(200, {}, `{"code":200,"x":"${'y'.repeat(200_000)}"}`))
    const entry = await call('heartbeat', {})
    expect(entry.response?.body.text).toHaveLength(65_536)
    expect(entry.response?.body.cutFrom).toBe(200_000 + 19)
    seller.on('/alive', huge)
    expect((await call('heartbeat', {})).response).toBeUndefined()
  })

  it('contains no secret, even if the partner echoes it', async () => {
    seller.on(
      '/alive',
      status(200, { 'X-Secret': seller.secret }, JSON.stringify({ code: 200, describe: seller.secret })),
    )
    const entry = await call('heartbeat', {})
    expect(JSON.stringify(entry)).not.toContain(seller.secret.slice(0, 14))
    expect(entry.response?.body.text).toContain('[secret]')
  })

  it('looks the same in production whether it was blocked, refused or not resolved', async () => {
    const insert = (failure: string, detail: string) =>
      world.pool.query(
        `insert into partner_call (call_id, partner_id, interface, started_at, duration_ms, url, request_headers, request_body, cause, failure, failure_detail)
         values ($1, 7001, 'heartbeat', $2, 17, 'http://x/', '{}', '{}', 'playground', $3, to_jsonb($4::text))`,
        [randomUUID(), world.clock.now(), failure, detail],
      )
    for (const [kind, detail] of [
      ['address', 'A'],
      ['dns', 'ENOTFOUND'],
      ['connect', 'ECONNREFUSED'],
    ] as const) {
      world.clock.advance(1)
      await insert(kind, detail)
    }
    const { lines } = await listTraffic(production(), 7001n, trafficQuery.parse({}))
    const shown = await Promise.all(
      lines.slice(0, 3).map(async ({ id }) => {
        const { failure, durationMs } = await showEntry(production(), 7001n, { kind: 'call', id })
        return { failure, durationMs }
      }),
    )
    expect(shown[0]).toMatchObject({ failure: { kind: 'unreachable' }, durationMs: null })
    expect(shown[1]).toEqual(shown[0])
    expect(shown[2]).toEqual(shown[0])
    expect(lines.slice(0, 3).map(({ failure, detail, duration_ms }) => [failure, detail, duration_ms])).toEqual(
      Array(3).fill(['unreachable', shown[0]?.failure?.detail, null]),
    )
    expect((await newest()).failure?.detail).toEqual('ECONNREFUSED')
  })
})

describe('a call of the partner', () => {
  it('that was accepted is shown with its answer', async () => {
    expect((await notice()).code).toBe(200)
    expect(await newest()).toMatchObject({
      kind: 'notice',
      direction: 'in',
      name: 'deal-change',
      outcome: { name: 'succeeded', tone: 'good' },
      code: 200,
      request: { url: '/mtp/api/deal/change/notice' },
    })
    expect((await newest()).request.body.text).toContain('"partnerDealId": "D1"')
  })

  it('that was refused for its body names each field', async () => {
    await notice({ path: '/rhone/mtp/api/order/consume/notice', body: '{"body":{"orderId":"x"}}' })
    const entry = await newest()
    expect(entry).toMatchObject({
      kind: 'rejected',
      name: 'consume',
      outcome: { tone: 'bad' },
      isSignature: false,
      code: 300,
    })
    expect(entry.problems).toContainEqual({
      path: 'body.partnerOrderId',
      problem: 'is required',
      docs: '/sandbox/docs#consume.notice.body.partnerOrderId',
    })
    expect(String(entry.failure?.detail)).toContain('body.partnerOrderId is required')
    expect(entry.stringToSign).toBe(`POST /rhone/mtp/api/order/consume/notice\n${world.clock.now().toUTCString()}`)
  })

  it('with broken JSON is shown with line and column, which its answer leaves out', async () => {
    const answer = await notice({ body: '{"body":\n {"orderId" 1}}', path: '/mtp/api/order/consume/notice' })
    expect(answer.describe).toMatch(/^HTTP body: not JSON: .* at position \d+$/)
    expect((await newest()).failure?.detail).toEqual(`${answer.describe} (line 2, column 13)`)
    await notice({ body: '{"body":1,\n"body":2}', path: '/mtp/api/order/consume/notice' })
    expect(String((await newest()).failure?.detail)).toContain('appears twice in one object (line 2, column 1)')
  })

  it('with a wrong signature names the mistake', async () => {
    await notice({ signing: { newline: '' } })
    const entry = await newest()
    expect(entry).toMatchObject({ isSignature: true, mistakes: ['newline-missing'], problems: [] })
    expect(entry.failure?.detail).toEqual('the signature does not match: newline-missing')
    expect(JSON.parse(entry.response?.body.text ?? '').describe).toBe('BA verification failed')
  })

  it('with a wrong signature is diagnosed only a limited number of times', async () => {
    for (let times = 0; times < 22; times++) await notice({ signing: { space: '' } }, other)
    const { lines } = await list({}, 7002n)
    expect(lines[0]?.detail).toEqual('the signature does not match')
    expect(lines.at(-1)?.detail).toEqual('the signature does not match: space-missing')
  })

  it('that contains the secret is stored and shown without it', async () => {
    const inBody = JSON.stringify({ body: { note: seller.secret, more: 'x'.repeat(20_000) } })
    await notice({ body: inBody, headers: { 'X-Secret': seller.secret } })
    const { rows } = await world.pool.query('select * from rejected_call')
    expect(JSON.stringify(rows)).not.toContain(seller.secret.slice(0, 14))
    const entry = await newest()
    expect(entry.request.body.text).toContain('[secret]')
    await notice({ body: JSON.stringify({ describe: seller.secret, body: [{ partnerDealId: 'D2', status: 1 }] }) })
    expect((await newest()).kind).toBe('notice')
    expect(JSON.stringify(await newest())).not.toContain(seller.secret.slice(0, 14))
  })

  it('whose body is cut in the middle of a secret reveals nothing of it', async () => {
    const start = '{"body":"'
    await notice({ body: `${start}${'x'.repeat(16_384 - start.length - 6)}${seller.secret}"}` })
    const { rows } = await world.pool.query(`select body from rejected_call where body like '${start}xxx%'`)
    expect(rows).toHaveLength(1)
    expect(rows[0].body).toMatch(/x\[secre$/)
    expect(rows[0].body).not.toContain(`x${seller.secret.slice(0, 3)}`)
  })
})

describe('the list', () => {
  let third: FakeSeller
  let thirdPartner: PartnerWithSecrets
  beforeAll(async () => {
    third = await fakeSeller(world, 7003)
    thirdPartner = (await findPartner(world.deps, 7003n)) as PartnerWithSecrets
    // 72 entries: every moment has two, so that pages have to tell them apart.
    for (let round = 0; round < 12; round++) {
      world.clock.advance(5)
      const at = { body: `{"body":[{"partnerDealId":"D${round}","status":1}]}` }
      third.on('/alive', round % 2 ? refusal(300) : ok({}))
      await callPartner(world.deps, thirdPartner, 'heartbeat', {})
      await sendNotice(world, third, { path: '/mtp/api/deal/change/notice', ...at })
      for (let more = 0; more < 4; more++)
        await sendNotice(world, third, { path: '/mtp/api/deal/change/notice', body: '{}' })
    }
  })
  afterAll(() => third.close())

  const cursorOf = (cursor: string | undefined) => cursor ?? ''

  it('goes page by page from the newest to the oldest and back, each entry once', async () => {
    const first = await list({}, 7003n)
    const second = await list({ before: cursorOf(first.older) }, 7003n)
    const last = await list({ before: cursorOf(second.older) }, 7003n)
    expect([first, second, last].map(({ lines }) => lines.length)).toEqual([30, 30, 12])
    expect([first.newer, last.older]).toEqual([undefined, undefined])
    const all = [first, second, last].flatMap(({ lines }) => lines)
    expect(new Set(all.map(({ id }) => id)).size).toBe(72)
    const times = all.map(({ at }) => at.getTime())
    expect(times).toEqual([...times].sort((one, two) => two - one))
    expect((await list({ after: cursorOf(last.newer) }, 7003n)).lines).toEqual(second.lines)
    const back = await list({ after: cursorOf(second.newer) }, 7003n)
    expect(back.lines).toEqual(first.lines)
    expect(back.newer).toBeUndefined()
  })

  it('stays stable while calls arrive', async () => {
    const first = await list({}, 7003n)
    const second = await list({ before: cursorOf(first.older) }, 7003n)
    world.clock.advance(1)
    await sendNotice(world, third, { path: '/mtp/api/deal/change/notice', body: '{"x":1}' })
    expect((await list({ before: cursorOf(first.older) }, 7003n)).lines).toEqual(second.lines)
    await world.pool.query(`delete from rejected_call where body = '{"x":1}'`)
  })

  it.each([
    [{ direction: 'out' }, { call: 12 }],
    [{ direction: 'in', outcome: 'ok' }, { notice: 12 }],
    [{ direction: 'in', outcome: 'failed' }, { rejected: 30 }],
    [{ direction: 'out', outcome: 'failed' }, { call: 6 }],
    [{ direction: 'out', outcome: 'ok' }, { call: 6 }],
    [{ outcome: 'ok' }, { call: 6, notice: 12 }],
    [
      { direction: 'sideways', outcome: 1, before: 'x', after: ['a', 'b'] },
      { call: 5, notice: 5, rejected: 20 },
    ],
    [{ before: `99999999999999.${randomUUID()}` }, { call: 5, notice: 5, rejected: 20 }],
    [{ before: `9999999999999.${randomUUID()}` }, { call: 5, notice: 5, rejected: 20 }],
  ])('answers the query %j', async (query, counts) => {
    const { lines } = await list(query, 7003n)
    const found: Record<string, number> = {}
    for (const { kind } of lines) found[kind] = (found[kind] ?? 0) + 1
    expect(found).toEqual(counts)
  })

  it('shows nothing of another partner, whose ids get the same answer as guessed ones', async () => {
    const { lines } = await list({}, 7003n)
    const seen = new Set((await list()).lines.map(({ id }) => id))
    for (const { kind, id } of lines) {
      expect(seen.has(id)).toBe(false)
      const refused = await show(kind, id, 7001n).catch((error: unknown) => error)
      const never = await show(kind, randomUUID(), 7001n).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(RescodeError)
      expect(refused).toEqual(never)
    }
  })
})

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RescodeError } from '../../src/platform/lib/web/rescode.ts'
import { NotReplayable } from '../../src/sandbox/portal/errors.ts'
import { showEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { listTraffic } from '../../src/sandbox/portal/traffic/list.ts'
import { type Replayed, replay } from '../../src/sandbox/portal/traffic/replay.ts'
import { trafficQuery } from '../../src/sandbox/portal/traffic/wire.ts'
import { activatePartner, findPartner, suspendPartner } from '../../src/ticketing/partners/partner.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { seedOrder } from '../orders/orders.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { type FakeSeller, fakeSeller, ok, reset } from '../partner-calls/fake-seller.ts'
import { consumption, type SentNotice, sendNotice } from './notices.ts'

const CONSUME = '/mtp/api/order/consume/notice'
const CHANGE = '/rhone/mtp/api/deal/change/notice'
const LONG_AGO = 'Tue, 05 May 2015 06:11:34 GMT'
const CHANGED = '{"body":[{"partnerDealId":"D1","status":1}]}'

let world: World
let seller: FakeSeller
let partnerId = 7100
beforeAll(async () => {
  world = await openWorld({ ...MANY_CONNECTIONS, PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
})
afterAll(() => world.close())
beforeEach(async () => {
  world.clock.advance(1)
  seller = await fakeSeller(world, ++partnerId)
  return () => seller.close()
})

const newest = async () => {
  const [line] = (await listTraffic(world.deps, seller.partnerId, trafficQuery.parse({}))).lines
  if (!line) throw new Error('nothing is kept')
  return line
}
const send = async (notice: SentNotice) => {
  world.clock.advance(1)
  const answer = await sendNotice(world, seller, notice)
  return { answer, entry: await newest() }
}
const again = ({ kind, id }: Pick<Replayed, 'kind' | 'id'>, by = seller.partnerId) => {
  world.clock.advance(20)
  return replay(world.deps, by, { kind, id: id ?? '' })
}
const failing = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: unknown) => error,
  )
const used = async (orderId: bigint) => {
  const { rows } = await world.pool.query('select used_quantity from ticket_order where order_id = $1', [
    String(orderId),
  ])
  return rows[0].used_quantity
}
const changes = async () =>
  (await world.pool.query('select count(*)::int from record_change where partner_id = $1', [String(seller.partnerId)]))
    .rows[0].count

describe('replaying a notice of the partner', () => {
  it('gives an accepted one its first answer, and nothing happens twice', async () => {
    const orderId = BigInt(partnerId) * 10n
    await seedOrder(world.pool, { orderId, partnerId })
    const { entry } = await send({ path: CONSUME, body: consumption({ orderId }) })
    expect([await used(orderId), await changes()]).toEqual([1, 1])
    expect(await again(entry)).toEqual({ outcome: 'again', kind: 'notice', id: entry.id })
    expect([await used(orderId), await changes()]).toEqual([1, 1])
    // A day later the bytes are forgotten, but its business keys still identify it.
    world.clock.advance(90_000)
    const later = await again(entry)
    expect(later).toMatchObject({ outcome: 'accepted', kind: 'notice' })
    expect([await used(orderId), await changes()]).toEqual([1, 1])
    expect((await showEntry(world.deps, seller.partnerId, { kind: 'notice', id: later.id ?? '' })).at).toEqual(
      world.clock.now(),
    )
  })

  it('accepts a rejected one once the cause is fixed', async () => {
    const orderId = BigInt(partnerId) * 10n + 9_007_199_254_740_993n
    const { answer, entry } = await send({ path: CONSUME, body: consumption({ orderId }) })
    expect(answer).toMatchObject({ code: 300, describe: `order ${orderId} does not exist` })
    await seedOrder(world.pool, { orderId, partnerId })
    const replayed = await again(entry)
    expect(replayed).toMatchObject({ outcome: 'accepted', kind: 'notice' })
    expect(await newest()).toMatchObject({ kind: 'notice', id: replayed.id })
    expect(await used(orderId)).toBe(1)
  })

  it.each<[string, Partial<SentNotice>]>([
    ['a wrong signature', { signing: { newline: '' } }],
    ['no signature at all', { headers: { Authorization: `MWS seller-CLIENT:` } }],
    // The body is not signed: whoever has seen one signed call could send any body under its old Date.
    ['an old Date', { signing: { date: LONG_AGO }, headers: { Date: LONG_AGO } }],
    ['a wrong signature and the PartnerId of another', { signing: { space: '' }, headers: { PartnerId: '1' } }],
  ])('is not possible when it came with %s, which anybody can send', async (_what, sending) => {
    const authorization = sending.headers?.Authorization?.replace('CLIENT', String(partnerId))
    const headers = { ...sending.headers, ...(authorization ? { Authorization: authorization } : {}) }
    const { entry } = await send({ path: CHANGE, body: CHANGED, ...sending, headers })
    expect(entry).toMatchObject({ kind: 'rejected', verified: false })
    expect(await failing(again(entry))).toMatchObject({ name: 'NotReplayable', obstacle: 'not-verified' })
    expect(await showEntry(world.deps, seller.partnerId, { kind: 'rejected', id: entry.id })).toMatchObject({
      verified: false,
      obstacle: 'not-verified',
    })
    expect(await changes()).toBe(0)
  })

  it('is not possible when it came wrongly signed while the partner was suspended', async () => {
    await suspendPartner(world.deps, seller.partnerId)
    const { entry } = await send({ path: CHANGE, body: CHANGED, signing: { newline: '' } })
    await activatePartner(world.deps, seller.partnerId)
    expect(await failing(again(entry))).toMatchObject({ obstacle: 'not-verified' })
    // Correctly signed, it was the partner's own.
    await suspendPartner(world.deps, seller.partnerId)
    const { entry: own } = await send({ path: CHANGE, body: CHANGED })
    expect(own).toMatchObject({ kind: 'rejected', verified: true, detail: 'the partner is suspended' })
    await activatePartner(world.deps, seller.partnerId)
    expect(await again(own)).toMatchObject({ outcome: 'accepted' })
  })

  it('is not possible when its sender is unknown', async () => {
    const id = randomUUID()
    await world.pool.query(
      `insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer)
       values ($1, $2, $3, 'x', $4, '"order 5 does not exist"', '{}', $5, '{}')`,
      [id, world.clock.now(), String(seller.partnerId), CHANGE, CHANGED],
    )
    expect(await failing(again({ kind: 'rejected', id }))).toMatchObject({ obstacle: 'not-verified' })
  })

  it('refuses an invalid one again, and stores that like any refusal', async () => {
    const { entry } = await send({
      path: CHANGE,
      body: '{"body":[{"partnerDealId":"D1","status":7}]}',
      headers: { 'X-Trace': 'abc', 'User-Agent': 'seller/1.0' },
    })
    const replayed = await again(entry)
    expect(replayed).toMatchObject({ outcome: 'refused', kind: 'rejected' })
    expect(replayed.id).not.toBe(entry.id)
    const stored = await showEntry(world.deps, seller.partnerId, { kind: 'rejected', id: replayed.id ?? '' })
    expect(stored).toMatchObject({
      name: 'deal-change',
      failure: { detail: 'body[0].status must be one of 0, 1, 2, 5' },
    })
    expect(Object.fromEntries(stored.request.headers ?? [])).toMatchObject({
      'user-agent': 'seller/1.0',
      'x-trace': '[not kept]',
      'gatehouse-replay-of': entry.id,
    })
    expect(stored.at).toEqual(world.clock.now())
  })

  it.each<[string, Partial<SentNotice>, string]>([
    ['a PartnerId of another', { headers: { PartnerId: '1' } }, 'PartnerId does not belong to the clientId'],
    [
      'another content type',
      { headers: { 'Content-Type': 'text/plain' } },
      'Content-Type must be application/json; charset=utf-8',
    ],
    [
      'another charset',
      { headers: { 'Content-Type': 'application/json; charset=gbk' } },
      'Content-Type: charset must be utf-8',
    ],
    [
      'the partnerId of another in its body',
      { body: `{"partnerId":1,"body":[{"partnerDealId":"D1","status":1}]}` },
      'partnerId does not belong to the clientId of the signature',
    ],
    ['not JSON', { body: '<xml/>' }, 'HTTP body: not JSON'],
  ])('skips no other check: %s', async (_what, sending, reason) => {
    const { entry } = await send({ path: CHANGE, body: CHANGED, ...sending })
    expect(entry.kind).toBe('rejected')
    const replayed = await again(entry)
    expect(replayed.outcome).toBe('refused')
    expect(String((await newest()).detail)).toContain(reason)
    expect(await changes()).toBe(0)
  })

  it('is refused while the partner is suspended', async () => {
    const { entry } = await send({ path: CHANGE, body: CHANGED })
    world.clock.advance(20)
    await suspendPartner(world.deps, seller.partnerId)
    expect(await again(entry)).toMatchObject({ outcome: 'refused' })
    expect((await newest()).detail).toEqual('the partner is suspended')
  })

  it.each<[string, string]>([
    ['was cut', `{"body":"${'x'.repeat(20_000)}"}`],
    ['was larger than 1 MiB', `{"body":"${'x'.repeat(1_048_576)}"}`],
    ['held a secret that is masked', '{"body":"SECRET"}'],
    ['held a NUL', '{"body":"\0"}'],
  ])('is not possible when its body %s', async (_what, body) => {
    const { entry } = await send({ path: CHANGE, body: body.replace('SECRET', seller.secret) })
    expect(await failing(again(entry))).toMatchObject({ obstacle: 'not-whole' })
    expect((await showEntry(world.deps, seller.partnerId, { kind: entry.kind, id: entry.id })).obstacle).toBe(
      'not-whole',
    )
  })

  it('is possible when a partner masked something itself, as many do with phone numbers', async () => {
    const { entry } = await send({
      path: CHANGE,
      body: '{"body":[{"partnerDealId":"D1","status":7,"phone":"138****0000 ***"}]}',
    })
    expect(await again(entry)).toMatchObject({ outcome: 'refused', kind: 'rejected' })
  })

  it('is not possible for a path that accepts no notices', async () => {
    const id = randomUUID()
    await world.pool.query(
      `insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified) values ($1, $2, $3, 'x', '/mtp/api/order/test/ba', '""', '{}', '{}', '{}', true)`,
      [id, world.clock.now(), String(seller.partnerId)],
    )
    expect(await failing(again({ kind: 'rejected', id }))).toMatchObject({ obstacle: 'not-a-notice' })
  })
})

describe('replaying a call of the platform', () => {
  const call = async (
    ...args: Parameters<typeof callPartner> extends [unknown, unknown, ...infer Rest] ? Rest : never
  ) => {
    const partner = await findPartner(world.deps, seller.partnerId)
    if (!partner) throw new Error('no partner')
    const { callId } = await callPartner(world.deps, partner, ...args)
    return { kind: 'call' as const, id: callId }
  }

  it('sends the same body with a new signature, and adds a new entry', async () => {
    seller.on('/order/query', ok({ orderStatus: 4, orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0 }))
    const first = await call(
      'order-query',
      { orderId: 9007199254740993n, partnerOrderId: 'P' },
      { orderId: 9007199254740993n },
    )
    const replayed = await again(first)
    expect(replayed).toMatchObject({ outcome: 'done', kind: 'call' })
    expect(replayed.id).not.toBe(first.id)
    const [one, two] = seller.calls
    expect(two?.body).toEqual(one?.body)
    expect(two?.signedRight).toBe(true)
    expect(two?.headers.authorization).not.toBe(one?.headers.authorization)
    expect(await newest()).toMatchObject({ id: replayed.id, kind: 'call' })
    expect(await changes()).toBe(0)
  })

  it('reports a failure', async () => {
    const first = await call('heartbeat', {})
    seller.on('/alive', reset)
    expect(await again(first)).toMatchObject({ outcome: 'failed', kind: 'call' })
  })

  it('is possible only for a call that reads', async () => {
    seller.on('/order/close', ok({}))
    const close = await call('order-close', { orderId: 5n, closeType: 1 })
    expect(await failing(again(close))).toMatchObject({ name: 'NotReplayable', obstacle: 'changes' })
    expect(seller.paths()).toEqual(['/order/close'])
  })

  it('is not possible when a masked secret has made the request invalid', async () => {
    const first = await call('heartbeat', {})
    await world.pool.query(`update partner_call set request_body = '{"partnerId":1,"body":"***"}' where call_id = $1`, [
      first.id,
    ])
    expect(await failing(again(first))).toBeInstanceOf(NotReplayable)
    expect(seller.calls).toHaveLength(1)
  })
})

describe('a replay', () => {
  it('of an entry of another partner is refused as if it did not exist', async () => {
    const { entry } = await send({ path: CHANGE, body: CHANGED })
    const theirs = await failing(again(entry, 1n))
    expect(theirs).toBeInstanceOf(RescodeError)
    const mine = seller
    const other = await fakeSeller(world, ++partnerId)
    const guessed = await failing(again(entry, other.partnerId))
    const never = await failing(again({ kind: 'notice', id: randomUUID() }, other.partnerId))
    expect(guessed).toEqual(never)
    expect((guessed as RescodeError).failure.status).toBe(404)
    await other.close()
    seller = mine
  })

  it('is possible 30 times a minute', async () => {
    const { entry } = await send({ path: CHANGE, body: CHANGED })
    const ask = () => failing(replay(world.deps, seller.partnerId, { kind: 'notice', id: entry.id }))
    const answers = []
    for (let times = 0; times < 31; times++) answers.push(await ask())
    expect(answers.slice(0, 30)).toEqual(Array(30).fill('done'))
    expect(answers[30]).toMatchObject({ rescode: 20003, failure: { status: 429 } })
    world.clock.advance(61)
    expect(await ask()).not.toMatchObject({ rescode: 20003 })
  })

  it('requested ten times at once has one effect', async () => {
    const orderId = BigInt(partnerId) * 10n
    const { entry } = await send({ path: CONSUME, body: consumption({ orderId }) })
    await seedOrder(world.pool, { orderId, partnerId })
    const all = await Promise.all(
      Array.from({ length: 10 }, () => replay(world.deps, seller.partnerId, { kind: entry.kind, id: entry.id })),
    )
    expect(new Set(all.map(({ id }) => id)).size).toBe(1)
    expect([await used(orderId), await changes()]).toEqual([1, 1])
  })
})

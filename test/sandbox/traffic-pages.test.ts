import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fieldReference } from '../../src/sandbox/portal/docs/reference.ts'
import { findPartner } from '../../src/ticketing/partners/partner.ts'
import { openWorld, type World } from '../harness.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { type FakeSeller, fakeSeller, ok, status } from '../partner-calls/fake-seller.ts'
import { sendNotice } from './notices.ts'
import { get, post, sellerSession } from './partners.ts'

const CHANGE = '/mtp/api/deal/change/notice'

let world: World
let seller: FakeSeller
let other: FakeSeller
let cookie: string
let stranger: string
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001)
  other = await fakeSeller(world, 7002)
  cookie = await sellerSession(world, seller)
  stranger = await sellerSession(world, other)
})
afterAll(async () => {
  await seller.close()
  await other.close()
  await world.close()
})

/** The path of the newest entry. */
async function newest(): Promise<string> {
  const { body } = await get(world, '/sandbox/traffic', cookie)
  const path = /href="(\/sandbox\/traffic\/[a-z]+\/[0-9a-f-]+)"/.exec(body)?.[1]
  if (!path) throw new Error('the list is empty')
  return path
}
async function rejected(body: string, headers: Record<string, string> = {}): Promise<string> {
  world.clock.advance(1)
  expect((await sendNotice(world, seller, { path: CHANGE, body, headers })).code).toBe(300)
  return newest()
}
async function ourCall(): Promise<string> {
  world.clock.advance(1)
  const partner = await findPartner(world.deps, seller.partnerId)
  if (partner) await callPartner(world.deps, partner, 'heartbeat', {})
  return newest()
}

describe('the field reference', () => {
  it('is public, has every anchor once, and keeps the navigation of a signed-in partner', async () => {
    const page = await get(world, '/sandbox/docs')
    expect(page.statusCode).toBe(200)
    const { notices, interfaces } = fieldReference('en')
    const anchors = [...notices, ...interfaces].flatMap(({ name, parts }) => [
      name,
      ...parts.flatMap((part) => [part.anchor, ...part.fields.map(({ anchor }) => anchor)]),
    ])
    const ids = [...page.body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(anchors.filter((anchor) => !ids.includes(anchor))).toEqual([])
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(page.body).not.toContain('/sandbox/sign-out')
    expect((await get(world, '/sandbox/docs', cookie)).body).toContain('/sandbox/sign-out')
  })

  it('has no dead links within the page', async () => {
    const { body } = await get(world, '/sandbox/docs')
    const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const links = [...body.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
    expect(links.length).toBeGreaterThan(300)
    expect(links.filter((link) => !ids.has(link))).toEqual([])
  })
})

describe('traffic', () => {
  it.each(['/sandbox/traffic', `/sandbox/traffic/call/${randomUUID()}`])('requires a session for %s', async (path) => {
    const answer = await get(world, path)
    expect([answer.statusCode, answer.headers.location]).toEqual([
      302,
      `/sandbox/sign-in?return_to=${encodeURIComponent(path)}`,
    ])
    if (path !== '/sandbox/traffic') expect((await post(world, `${path}/replay`, {})).statusCode).toBe(303)
  })

  it('replays by a form, and leads to the new entry, which says so', async () => {
    const entry = await ourCall()
    const answer = await post(world, `${entry}/replay`, {}, { cookie })
    expect(answer.statusCode).toBe(303)
    const to = String(answer.headers.location)
    expect(to).toMatch(/^\/sandbox\/traffic\/call\/[0-9a-f-]{36}\?replayed=done$/)
    expect(to).not.toContain(entry)
    expect((await get(world, to, cookie)).body).toContain('Called again: this is the new call.')
    expect(seller.calls).toHaveLength(2)
  })

  it('says why a call cannot be replayed, even to a direct POST', async () => {
    world.clock.advance(1)
    seller.on('/order/close', ok({}))
    const partner = await findPartner(world.deps, seller.partnerId)
    if (partner) await callPartner(world.deps, partner, 'order-close', { orderId: 5n, closeType: 1 })
    const entry = await newest()
    expect((await get(world, entry, cookie)).body).not.toContain(`${entry}/replay`)
    const answer = await post(world, `${entry}/replay`, {}, { cookie })
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toMatch(/role="alert">This call changes data in your system/)
  })

  it('marks a call that anybody may have sent as not verified, and does not replay it', async () => {
    world.clock.advance(1)
    const body = '{"body":[{"partnerDealId":"FORGED","status":1}]}'
    await sendNotice(world, seller, { path: CHANGE, body, signing: { secret: 'a guess' } })
    const entry = await newest()
    const list = (await get(world, '/sandbox/traffic', cookie)).body
    expect(list).toContain('<span class="mark warning">Not verified</span>')
    const page = (await get(world, entry, cookie)).body
    expect(page).toContain('Not verified: this call names your clientId, but its signature does not match')
    expect(page).not.toContain('Your call was rejected')
    expect(page).not.toContain(`${entry}/replay`)
    expect((await get(world, entry, cookie, { 'accept-language': 'zh-CN' })).body).toContain('未验证：该调用使用了')
    const answer = await post(world, `${entry}/replay`, {}, { cookie })
    expect(answer.statusCode).toBe(409)
    expect(answer.body).toMatch(/role="alert">Only calls with a correct signature/)
    const { rows } = await world.pool.query(`select from notice where body like '%FORGED%'`)
    expect(rows).toEqual([])
  })

  it('says in the language of the reader why a body was not kept', async () => {
    world.clock.advance(1)
    await sendNotice(world, seller, { path: CHANGE, body: '{}', signing: { secret: 'a guess' } })
    const unread = await newest()
    seller.on('/alive', status(200, { 'content-encoding': 'gzip' }, '{}'), ok({}))
    const compressed = await ourCall()
    const chinese = { 'accept-language': 'zh-CN' }
    expect((await get(world, unread, cookie)).body).toContain(
      '<p class="note">not read: the signature was checked first',
    )
    expect((await get(world, unread, cookie, chinese)).body).toContain('<p class="note">未读取：签名校验在先')
    expect((await get(world, compressed, cookie, chinese)).body).toContain('<p class="note">未保存：内容经过压缩')
  })

  it('accepts no form from another site', async () => {
    const entry = await rejected('{}')
    const before = (await get(world, '/sandbox/traffic', cookie)).body
    const foreign = { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await post(world, `${entry}/replay`, {}, foreign)).statusCode).toBe(403)
    expect((await get(world, '/sandbox/traffic', cookie)).body).toBe(before)
  })

  it('answers another partner, and every guess, with the same 404', async () => {
    const entry = await rejected('{}')
    const answerTo = async (path: string, by: string) => {
      const { statusCode, body } = await get(world, path, by, { accept: 'application/json' })
      return { statusCode, body }
    }
    const never = await answerTo(`/sandbox/traffic/rejected/${randomUUID()}`, stranger)
    expect(never).toMatchObject({ statusCode: 404 })
    const id = entry.split('/').at(-1)
    const guesses = [
      entry,
      `/sandbox/traffic/call/${id}`,
      `/sandbox/traffic/notice/${id}`,
      '/sandbox/traffic/call/1',
      `/sandbox/traffic/order/${id}`,
      "/sandbox/traffic/call/'%20or%201=1",
    ]
    for (const path of guesses) expect(await answerTo(path, stranger), path).toEqual(never)
    for (const path of guesses)
      expect((await post(world, `${path}/replay`, {}, { cookie: stranger })).statusCode, path).toBe(404)
    expect((await answerTo(entry, cookie)).statusCode).toBe(200)
    expect((await get(world, '/sandbox/traffic', stranger)).body).not.toContain(String(id))
  })

  it('shows what partners send as plain text', async () => {
    const nasty = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    const entry = await rejected(JSON.stringify({ body: nasty }), { 'X-Nasty': nasty })
    for (const path of [entry, '/sandbox/traffic']) {
      const { body } = await get(world, path, cookie)
      expect(body).not.toContain('<script>alert')
      expect(body).not.toContain('<img src=x')
    }
    expect((await get(world, entry, cookie)).body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  it('cuts a long reason in the list at the end of a word', async () => {
    const id = (await ourCall()).split('/').at(-1)
    const reason = Array.from({ length: 9 }, (_, n) => `body[${n}].phoneLimitCount is required`).join('; ')
    await world.pool.query(
      "update partner_call set failure = 'schema', failure_detail = to_jsonb($2::text), verdict = 'failed' where call_id = $1",
      [id, reason],
    )
    const { body } = await get(world, '/sandbox/traffic', cookie)
    const [, shown = ''] = /<span class="why bad">([^<]+)</.exec(body) ?? []
    expect(shown).toBe(`${reason.slice(0, reason.indexOf('; body[5]'))}…`)
    expect((await get(world, await newest(), cookie)).body).toContain('body[8]')
  })

  it('ignores unknown values in its query', async () => {
    for (const query of [
      '?direction=x&outcome=y',
      '?before=1.2',
      `?after=${'9'.repeat(40)}.x`,
      '?direction=in&direction=out',
      '?before=%00',
    ]) {
      expect((await get(world, `/sandbox/traffic${query}`, cookie)).statusCode, query).toBe(200)
    }
  })

  it('keeps its filter from page to page', async () => {
    for (let times = 0; times < 31; times++) await rejected('{}')
    const { body } = await get(world, '/sandbox/traffic?direction=in&outcome=failed', cookie)
    const older = /href="([^"]+)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
    expect(older).toMatch(/^\/sandbox\/traffic\?direction=in&outcome=failed&before=\d+\./)
    expect((await get(world, older ?? '', cookie)).body).toContain('rel="prev"')
  })

  it('reveals the secret nowhere', async () => {
    const entry = await rejected(JSON.stringify({ body: seller.secret }), { 'X-Secret': seller.secret })
    for (const path of [entry, '/sandbox/traffic', await ourCall()]) {
      expect((await get(world, path, cookie)).body).not.toContain('secret-of-7001')
    }
    expect(world.logged()).not.toContain('secret-of-7001')
  })
})

describe('calls of an order', () => {
  const ORDERS = ['9007199254740993', '9007199254740994']
  const rowsOf = (body: string) => body.slice(body.indexOf('<ol class="traffic">')).split('<li>').slice(1)
  const markIn = (row: string) => /<svg class="tie"[\s\S]*?<\/svg>/.exec(row)?.[0]

  it('share a mark that those of another order do not have, and link to the calls of their order', async () => {
    const partner = await findPartner(world.deps, seller.partnerId)
    if (!partner) throw new Error('no partner')
    for (const orderId of [...ORDERS, ...ORDERS].map(BigInt)) {
      world.clock.advance(1)
      await callPartner(world.deps, partner, 'order-query', { orderId, partnerOrderId: 'P' }, { orderId })
    }
    await ourCall()
    const rows = rowsOf((await get(world, '/sandbox/traffic?outcome=failed', cookie)).body)
    const marksOf = (id: string) => rows.filter((row) => row.includes(`orderId ${id}`)).map(markIn)
    const [first, second] = ORDERS.map((id) => new Set(marksOf(id)))
    expect([first?.size, second?.size]).toEqual([1, 1])
    expect(first).not.toEqual(second)
    expect(rowsOf((await get(world, '/sandbox/traffic', cookie)).body).some((row) => !markIn(row))).toBe(true)
    const [href = ''] = /\/sandbox\/traffic\?[^"]*by=order[^"]*/.exec(rows[0] ?? '') ?? []
    expect(href.replaceAll('&amp;', '&')).toBe(`/sandbox/traffic?outcome=failed&by=order&value=${ORDERS[1]}`)
    const only = (await get(world, href.replaceAll('&amp;', '&'), cookie)).body
    expect(rowsOf(only).length).toBe(2)
    expect(only).not.toContain(ORDERS[0])
    expect(only).not.toContain('Only this order')
    expect(only).toContain('<a href="/sandbox/traffic?outcome=failed">All calls</a>')
    const chinese = await get(world, '/sandbox/traffic?outcome=failed', cookie, { 'accept-language': 'zh-CN' })
    expect(chinese.body).toContain('>只看此订单</a>')
  })
})

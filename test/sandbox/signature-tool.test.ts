import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasPassedSignatureTool, listSignatureTests } from '../../src/ticketing/mws/signature-test-store.ts'
import { createPartner, suspendPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { fuzzSettings, type Random, randomAt } from '../fuzz/random.ts'
import { openWorld, type World } from '../harness.ts'
import { CALL, PARTNER, WRONGLY } from '../mws/diagnose/wrongly.ts'
import { type Signing, signatureOf, signedHeaders } from '../signer.ts'
import { get, newSandboxPartner, post, type SandboxPartner, sessionOf } from './partners.ts'

const TOOL = '/mtp/api/order/test/ba'
const SECRET = PARTNER.secrets[0] as string
const HOST = CALL.host

let world: World
let partner: SandboxPartner
let cookie: string
beforeAll(async () => {
  world = await openWorld({
    PUBLIC_URL: `https://${HOST}`,
    MTP_PATH_PREFIXES: '/rhone,/test',
    TRUST_PROXY: '127.0.0.1',
  })
  // The partner of the table of mistakes, whose clientId predates the rule against colons.
  partner = await createPartner(
    world.deps,
    newPartner.parse({ name: 'Lakeside Tickets', partner_id: 7001, client_id: 'demo-partner' }),
    SECRET,
  )
  await world.pool.query("update partner set client_id = 'demo:partner' where partner_id = 7001")
  partner = { ...partner, client_id: 'demo:partner' }
  cookie = await sessionOf(world, partner)
})
afterAll(() => world.close())

const signed = (wrong: Partial<Signing> = {}): string =>
  `MWS demo:partner:${signatureOf({ path: CALL.path, date: CALL.date, secret: SECRET, ...wrong })}`

const paste = async (fields: Record<string, string>, session = cookie, headers: Record<string, string> = {}) => {
  const call = {
    method: 'POST',
    url: CALL.url,
    date: CALL.date,
    authorization: signed(),
    partner_id: '7001',
    host: HOST,
  }
  return post(world, '/sandbox/signature', { ...call, ...fields }, { cookie: session, ...headers })
}
/** Pastes a call and returns the path of its verdict. */
const verdictPath = async (fields: Record<string, string>): Promise<string> => {
  const answer = await paste(fields)
  expect(answer.statusCode).toBe(303)
  expect(answer.headers.location).toMatch(/^\/sandbox\/signature\?test=\d+#verdict$/)
  return String(answer.headers.location).replace('#verdict', '')
}
const verdictOn = async (fields: Record<string, string>): Promise<string> =>
  (await get(world, await verdictPath(fields), cookie)).body

/** The fields of the form for a correct call of this partner. */
function pasteOf({
  partner_id,
  client_id: clientId,
  client_secret: clientSecret,
}: SandboxPartner): Record<string, string> {
  const date = world.clock.now().toUTCString()
  const { Authorization } = signedHeaders({ partnerId: '', clientId, clientSecret }, { path: TOOL, date })
  return { url: TOOL, date, partner_id: String(partner_id), authorization: Authorization }
}

let address = 0
/** Sends a call to the tool itself, each from another address to stay below the rate limit. */
const send = (headers: Record<string, string>, url = TOOL) =>
  world.app.inject({
    method: 'POST',
    url,
    payload: '{}',
    headers: {
      host: HOST,
      'Content-Type': 'application/json',
      'x-forwarded-for': `10.1.0.${++address % 256}`,
      ...headers,
    },
  })
const sentBy = (by: SandboxPartner, path = TOOL, url = path) =>
  send(
    {
      ...signedHeaders(
        { partnerId: String(by.partner_id), clientId: by.client_id, clientSecret: by.client_secret },
        { path, date: world.clock.now().toUTCString() },
      ),
    },
    url,
  )

const pass = (id: bigint) => hasPassedSignatureTool(world.deps, id)
/** The text of a page as a person reads it, without tags. */
const readable = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')

describe('a wrong call that is pasted', () => {
  const names = Object.keys(WRONGLY)

  it.each(names)('gets the diagnosis %s in both languages', async (name) => {
    const authorization = signed(WRONGLY[name]?.[0])
    expect(authorization).not.toBe(signed())
    const address = await verdictPath({ authorization })
    const page = (await get(world, address, cookie)).body
    expect(page).toContain('This call fails the signature check')
    expect(page).toContain(`<code>${name}</code>`)
    expect(page).not.toContain(signed().split(':').at(-1))
    const chinese = (await get(world, address, cookie, { 'accept-language': 'zh' })).body
    expect(chinese).toContain('该调用未通过签名校验')
    expect(chinese).toMatch(new RegExp(`<strong>[^<]*[\\u4e00-\\u9fff][^<]*</strong> <code>${name}</code>`))
    expect(await pass(7001n)).toBe(false)
  })

  it.each([
    [{ newline: '' }, { date: '2026-05-06T10:34:20Z' }, ['newline-missing', 'date-signed-as-iso-8601']],
    [{ space: '' }, { secret: `${SECRET}\n` }, ['space-missing', 'secret-with-white-space']],
    [{ method: 'post' }, { newline: '\\n' }, ['method-lower-case', 'newline-literal']],
  ])('gets the diagnosis of two mistakes at once: %j and %j', async (first, second, both) => {
    const page = await verdictOn({ authorization: signed({ ...first, ...second }) })
    for (const name of both) expect(page).toContain(`<code>${name}</code>`)
  })

  it.each<[string, Record<string, string>]>([
    ['authorization-missing', { authorization: '' }],
    ['date-header-missing', { date: '' }],
    ['scheme-missing', { authorization: signed().slice(4) }],
    ['scheme-wrong', { authorization: signed().replace('MWS', 'mws') }],
    ['colon-missing', { authorization: 'MWS demo-partner' }],
    ['signature-missing', { authorization: 'MWS demo:partner:' }],
    ['partner-id-mismatch', { partner_id: '7002' }],
    ['signature-unrecognised', { authorization: 'MWS demo:partner:AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }],
    ['date-weekday-wrong', { date: 'Tue, 06 May 2026 10:34:20 GMT' }],
    ['date-form-wrong', { date: '2026-05-06 10:34:20' }],
  ])('gets the diagnosis %s', async (name, fields) => expect(await verdictOn(fields)).toContain(`<code>${name}</code>`))

  it('is shown with both texts byte by byte, and where they first differ', async () => {
    const html = await verdictOn({ authorization: signed({ newline: '' }) })
    const page = readable(html)
    expect(page).toContain(`POST␠${CALL.path}␊\nWed,␠06␠May␠2026␠10:34:20␠GMT`)
    expect(page).toContain(`POST␠${CALL.path}Wed,␠06␠May␠2026␠10:34:20␠GMT`)
    expect(page).toContain(
      `They first differ at byte ${`POST ${CALL.path}`.length + 1}: expected LF (0A), signed W (57).`,
    )
    expect(html).toContain(
      '<mark><span class="sign" role="img" aria-label="line feed" title="line feed" data-label="LF">␊</span></mark>',
    )
    expect(html).toContain('<mark>W</mark>')
  })

  it('is shown with the end of the shorter text', async () => {
    const page = readable(await verdictOn({ authorization: signed({ end: '\n' }) }))
    expect(page).toContain('10:34:20␠GMT␃')
    expect(page).toMatch(/expected end of text, signed LF \(0A\)\./)
  })

  it.each([
    [420, 'Wed, 06 May 2026 10:41:20 GMT', null],
    [
      720,
      'Wed, 06 May 2026 10:46:20 GMT',
      '12 minutes ahead of our clock, which showed <code>Wed, 06 May 2026 10:34:20 GMT</code>.',
    ],
    [-720, 'Wed, 06 May 2026 10:22:20 GMT', '12 minutes behind our clock'],
    [28_800, 'Wed, 06 May 2026 18:34:20 GMT', '8 hours ahead of our clock'],
  ])('is shown with how far its clock is off: %i s', async (_seconds, date, difference) => {
    const page = await verdictOn({ date, authorization: signed({ date }) })
    if (difference === null) expect(page).toContain('This signature is correct')
    else expect(page).toContain(difference)
  })
})

describe('the form of the signature tool', () => {
  it('accepts values that were pasted with header names and line ends', async () => {
    const authorization = `Authorization: ${signed({ newline: '' })}\r\n`
    const page = await verdictOn({ authorization, date: ` Date: ${CALL.date} `, url: `https://${HOST}${CALL.url}` })
    expect(page).toContain('<code>newline-missing</code>')
    expect(page).not.toContain('authorization-white-space')
  })

  it.each<Record<string, string>>([
    { url: '' },
    { method: 'P OST' },
    { url: `/${'x'.repeat(2_048)}` },
    { date: 'x\0' },
    { authorization: 'x'.repeat(2_049) },
  ])('says what is missing and keeps the other input: %j', async (fields) => {
    const { statusCode, body } = await paste({ date: 'what I <typed>', ...fields })
    expect(statusCode).toBe(400)
    expect(body).toContain('Enter the method and the path')
    if (!fields.date) expect(body).toContain('value="what I &lt;typed&gt;"')
  })

  it('can be sent 120 times a minute per partner, and is still shown after that', async () => {
    const [eager, other] = [await newSandboxPartner(world), await newSandboxPartner(world)]
    const session = await sessionOf(world, eager)
    for (let index = 0; index < 120; index++) expect((await paste({ authorization: '' }, session)).statusCode).toBe(303)
    const limited = await paste({ authorization: '' }, session)
    expect(limited.statusCode).toBe(429)
    expect(limited.headers['retry-after']).toMatch(/^\d+$/)
    expect(limited.body).toContain('Please wait a moment')
    expect((await get(world, '/sandbox/signature', session)).statusCode).toBe(200)
    expect((await paste({ authorization: '' }, await sessionOf(world, other))).statusCode).toBe(303)
  })

  it('survives duplicate fields and no fields at all', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', cookie }
    for (const payload of ['', 'url=/a&url=/b', '__proto__=x', 'url[]=/a']) {
      const { statusCode } = await world.app.inject({ method: 'POST', url: '/sandbox/signature', payload, headers })
      expect(statusCode).toBe(400)
    }
  })

  it('escapes pasted text wherever it is shown', async () => {
    const page = await verdictOn({
      url: '/<script>alert(1)</script>',
      date: '"><img src=x>',
      authorization: 'MWS <b>:<i>',
    })
    expect(page).not.toMatch(/<script>alert|<img src=x|<b>|<i>/)
    expect(page).toContain('&lt;script&gt;')
  })

  it('is refused from another origin, and changes nothing without a session', async () => {
    const count = async () => (await listSignatureTests(world.deps, 7001n)).length
    const before = await count()
    expect((await paste({}, cookie, { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403)
    expect((await paste({}, cookie, { 'sec-fetch-site': '', origin: 'https://evil.example' })).statusCode).toBe(403)
    const expired = await paste({}, 'gatehouse_sandbox=x')
    expect(expired.statusCode).toBe(303)
    expect(expired.headers.location).toBe('/sandbox/sign-in?return_to=%2Fsandbox%2Fsignature%23unsent&ended=1')
    expect(await count()).toBe(before)
  })
})

describe('passing the signature tool', () => {
  it('by a pasted call unlocks the test run, once and for all', async () => {
    const other = await newSandboxPartner(world)
    const session = await sessionOf(world, other)
    const fields = pasteOf(other)
    expect((await get(world, '/sandbox', session)).body).toContain('href="/sandbox/signature">Continue')
    await paste(fields, session)
    const page = await get(world, '/sandbox/signature', session)
    expect(page.body).toContain('This signature is correct')
    expect(page.body).toContain('href="/sandbox/functions"')
    expect((await get(world, '/sandbox', session)).body).toContain('href="/sandbox/functions">Continue')
    const others = (await listSignatureTests(world.deps, 7001n)).length
    expect(others).toBeGreaterThan(0)
    for (let index = 0; index < 55; index++) await paste({ ...fields, authorization: 'MWS x:y' }, session)
    expect(await pass(other.partner_id)).toBe(true)
    expect(await listSignatureTests(world.deps, other.partner_id)).toHaveLength(50)
    await paste({})
    expect(await listSignatureTests(world.deps, 7001n)).toHaveLength(Math.min(others + 1, 50))
  })

  it.each(['', '/rhone'])('by a call that was sent under "%s" unlocks it too', async (prefix) => {
    const other = await newSandboxPartner(world)
    const session = await sessionOf(world, other)
    const wrong = await sentBy(other, `${prefix}${TOOL}`, `${prefix === '' ? '/rhone' : ''}${TOOL}`)
    expect(wrong.json()).toMatchObject({ code: 300, diagnosis: { mistake: 'path-of-another-environment' } })
    expect(await pass(other.partner_id)).toBe(false)
    expect((await get(world, '/sandbox/signature', session)).body).toContain('<code>path-of-another-environment</code>')
    expect((await sentBy(other, prefix + TOOL)).json()).toMatchObject({ code: 200 })
    expect(await pass(other.partner_id)).toBe(true)
    expect((await get(world, '/sandbox/signature', session)).body).toContain('This signature is correct')
  })

  it('requires an active partner and the partner’s own secret', async () => {
    const [suspended, owner, thief] = await Promise.all([1, 2, 3].map(() => newSandboxPartner(world)))
    if (!suspended || !owner || !thief) throw new Error('three partners')
    await suspendPartner(world.deps, suspended.partner_id)
    expect((await sentBy(suspended)).json()).toMatchObject({ diagnosis: { mistake: 'partner-suspended' } })
    expect(await pass(suspended.partner_id)).toBe(false)
    // Correctly signed, but by another partner: it proves nothing about the one who pastes it or the one who signed.
    const fields = pasteOf(owner)
    await paste(fields, await sessionOf(world, thief))
    expect([await pass(thief.partner_id), await pass(owner.partner_id)]).toEqual([false, false])
    await paste(fields, await sessionOf(world, owner))
    expect(await pass(owner.partner_id)).toBe(true)
  })
})

describe('a stored test', () => {
  it('is only for its partner', async () => {
    const other = await newSandboxPartner(world)
    const session = await sessionOf(world, other)
    const location = await verdictPath({ url: '/of/7001/alone' })
    expect((await get(world, location, cookie)).body).toContain('/of/7001/alone')
    const page = await get(world, location, session)
    expect(page.statusCode).toBe(200)
    expect(page.body).not.toContain('/of/7001/alone')
  })

  it.each(['x', '-1', '9'.repeat(40), '1&test=2', ''])(
    'may be unknown, and the page still opens with ?test=%s',
    async (id) => {
      expect((await get(world, `/sandbox/signature?test=${id}`, cookie)).statusCode).toBe(200)
    },
  )

  it('holds no whole signature, and no secret', async () => {
    await paste({ authorization: `MWS demo:partner:${SECRET}` })
    await paste({ authorization: SECRET })
    await sentBy(partner)
    const { rows } = await world.pool.query('select t::text as kept from signature_test t')
    for (const { kept } of rows) {
      expect(kept).not.toContain(SECRET)
      expect(kept).not.toMatch(/[A-Za-z0-9+/]{27}=/)
    }
    expect(world.logged()).not.toContain(SECRET)
  })

  it('holds no secret that was sent in place of something else', async () => {
    const other = await newSandboxPartner(world, { client_id: 'spills' })
    const { client_secret: leaked, partner_id } = other
    const date = world.clock.now().toUTCString()
    const PartnerId = String(partner_id)
    await send({ Authorization: `MWS ${leaked}:${'A'.repeat(27)}=`, Date: date, PartnerId })
    await send({ Authorization: `MWS spills:${leaked}`, Date: date })
    await send({ Authorization: 'MWS spills:AAAA', Date: `${date} ${leaked}` })
    const found = await world.pool.query('select t::text as row from signature_test t where partner_id = $1', [
      partner_id,
    ])
    const stored = found.rows.map(({ row }) => row).join('\n')
    expect(stored).toContain('[secret]')
    expect(stored).not.toContain(leaked)
    expect(stored).not.toContain(`:${leaked.slice(0, 6)}`)
  })
})

describe('a Content-Type', () => {
  const CHANGE = '/mtp/api/deal/change/notice'
  const TYPES = [
    ...['application/json', 'text/json', 'application/problem+json', 'application/jsonp', 'json', 'text/plain', ''],
    ...['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json/x', '*/*'],
  ]
  const ENDS = ['', ';', '; charset=utf-8', ';charset=UTF8', '; charset="utf-8"', '; charset=gbk', '; charset=latin1']
  const typeOf = (random: Random): string => {
    const type = random.pick(TYPES) + random.pick(ENDS)
    const at = random.int(type.length + 1)
    if (random.chance(0.2)) return type.slice(0, at) + random.pick([...' ;,=+/aA"']) + type.slice(at)
    return random.chance(0.2) ? type.toUpperCase() : type
  }
  const signedWith = (path: string, type: string) =>
    send(
      {
        ...signedHeaders(
          { partnerId: '7001', clientId: partner.client_id, clientSecret: SECRET },
          { path, date: world.clock.now().toUTCString() },
        ),
        'Content-Type': type,
      },
      path,
    )

  it('is accepted by the tool exactly when a notice with it is, whatever it is', async () => {
    const refused = []
    for (let place = 0; place < 250; place++) {
      const type = typeOf(randomAt(fuzzSettings().seed, place))
      const tool = (await signedWith(TOOL, type)).json()
      const notice = (await signedWith(CHANGE, type)).json()
      const isRefused = String(notice.describe).startsWith('Content-Type')
      expect([notice.code, tool.code, tool.diagnosis?.mistakes], type).toEqual(
        isRefused ? [300, 300, ['content-type-not-json']] : [300, 200, undefined],
      )
      if (isRefused) refused.push(type)
    }
    expect(refused.length).toBeGreaterThan(100)
    expect(refused.length).toBeLessThan(230)
  })

  it('that is refused unlocks no test run, and is named on the page of the tool', async () => {
    const other = await newSandboxPartner(world, { client_id: 'plain-text' })
    const date = world.clock.now().toUTCString()
    const by = { partnerId: String(other.partner_id), clientId: 'plain-text', clientSecret: other.client_secret }
    const answer = await send({ ...signedHeaders(by, { path: TOOL, date }), 'Content-Type': 'text/plain' })
    expect(answer.json()).toMatchObject({ code: 300, diagnosis: { mistake: 'content-type-not-json' } })
    expect(answer.json().diagnosis.explanation).toBe(
      'The Content-Type is not application/json; charset=utf-8: a notice with it is refused.',
    )
    expect(await pass(other.partner_id)).toBe(false)
    const page = await get(world, '/sandbox/signature', await sessionOf(world, other), { 'accept-language': 'zh-CN' })
    expect(page.body).toContain('这样的通知会被拒绝')
    await send({ ...signedHeaders(by, { path: TOOL, date }) })
    expect(await pass(other.partner_id)).toBe(true)
  })
})

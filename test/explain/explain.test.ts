import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { type App, Client, type User } from '../acceptance/client.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { ADMIN_TOKEN, openWorld, SECRET_KEY, type World } from '../harness.ts'
import { seedOrder } from '../orders/orders.ts'
import { signedHeaders } from '../signer.ts'
import { until } from '../until.ts'

/** Support asks why a request was rejected, by its id or by whatever else is known about it. */

const SECRET = '123456ce8b61f8e608eaf2e9702864a9'
const CONSUME = '/mtp/api/order/consume/notice'
const ORDER = 8985652356562370001n

let world: World
let client: Client
let app: App
let user: User
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({})
  user = await client.makeUser()
  const seller = newPartner.parse({ partner_id: 7001, client_id: 'seller', name: 'Seller', stage: 'live' })
  await createPartner(world.deps, seller, SECRET)
  await seedOrder(world.pool, { orderId: ORDER, quantity: 3, vouchers: ['A', 'B', 'C'] })
})
afterAll(() => world.close())

const idOf = (answer: Answer): string => header(answer, 'x-request-id')
const rows = async (where: string) => (await world.pool.query(`select * from refused_request where ${where}`)).rows
const kept = (id: string) => until(async () => (await rows(`request_id = '${id}'`)).length === 1)

async function ask(path: string) {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const answer = await world.app.inject({ method: 'GET', url: `/admin/v1/${path}`, headers })
  return { status: answer.statusCode, data: answer.json().data }
}
const about = (text: string) => ask(`explain?about=${encodeURIComponent(text)}`)
const command = (text: string) =>
  gatehouse({ NODE_ENV: 'test', DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'explain', text)

describe('a rejected request of area A', () => {
  it('is explained by its id: what was sent, the response, and the row of the check that failed', async () => {
    const consented = await client.getCode(await client.signedIn(user, app), app)
    world.clock.advance(301)
    const refused = await client.exchange(app, consented)
    const id = idOf(refused)
    await kept(id)
    const { status, data } = await ask(`requests/${id}`)
    expect(status).toBe(200)
    expect(data.refusal).toMatchObject({
      request_id: id,
      endpoint: 'A2',
      method: 'POST',
      status: 200,
      rescode: 20013,
      answer: 'ServerErrorException',
      failure: 'code_expired',
      step: { row: 10, check: "code unknown, used, expired, or another app's: one text" },
      app_key: app.app_key,
      proved: true,
      token: consented.code.slice(0, 17),
    })
    expect(data.refusal.parameters.toSorted()).toEqual([
      'app_key',
      'app_secret',
      'code',
      'grant_type',
      'redirect_uri',
      'state',
    ])
    expect(world.logged()).toContain(`"request":"${id}"`)
    const [row] = await rows(`request_id = '${id}'`)
    for (const secret of [consented.code, app.app_secret, consented.state])
      expect(JSON.stringify(row)).not.toContain(secret)
    const { code, stdout } = await command(id)
    expect(code).toBe(0)
    const why = "code_expired (A2, check 10: code unknown, used, expired, or another app's: one text)"
    expect(stdout).toContain(`why         ${why}`)
    expect((await command(app.app_key)).stdout).toContain(why)
    expect(stdout).toContain('answered    20013 ServerErrorException (HTTP 200)')
  })

  it('is found by app_key, token, passport and phone number, and shown with the failures that followed', async () => {
    world.clock.advance(10)
    const tokens = await client.getTokens(await client.signedIn(user, app), app)
    await world.pool.query('update user_grant set revoked_at = $1 where cid = $2 and user_id = $3', [
      world.clock.now(),
      user.cid,
      user.user_id,
    ])
    const first = await client.userInfo(tokens.access_token)
    world.clock.advance(5)
    const second = await client.refresh(app, tokens.refresh_token)
    await kept(idOf(first))
    await kept(idOf(second))
    const begins = tokens.access_token.slice(0, 17)
    const expected = {
      request_id: idOf(first),
      endpoint: 'A5',
      failure: 'token_revoked',
      step: { row: 5 },
      token: begins,
    }

    const byRequest = (await ask(`requests/${idOf(first)}`)).data
    expect(byRequest).toMatchObject({
      refusal: { ...expected, app_key: app.app_key, cid: user.cid, user_id: user.user_id },
    })
    expect(byRequest.followed.refusals).toMatchObject([{ request_id: idOf(second), endpoint: 'A3', step: { row: 10 } }])

    const ofApp = (await about(app.app_key)).data.app
    expect(ofApp).toMatchObject({ app_key: app.app_key, status: 'approved' })
    expect(ofApp.refusals.slice(0, 2)).toMatchObject([{ endpoint: 'A3' }, expected])

    const byToken = (await about(begins)).data.token
    expect(byToken).toMatchObject({ begins, kind: 'access token', refusals: [expected] })
    expect(byToken.issued).toMatchObject([
      { app_key: app.app_key, user_id: user.user_id, revoked_at: expect.any(String) },
    ])
    expect((await about(tokens.access_token)).data.token).toEqual(byToken) // only the prefix of a whole token is used

    const byPassport = (await about(user.passport)).data.people
    expect(byPassport).toMatchObject([
      { user_id: user.user_id, grants: [{ app_key: app.app_key }, {}], refusals: [expected] },
    ])
    const phone = '13912345678'
    await world.pool.query('update user_profile set phone_number = $1 where user_id = $2', [phone, user.user_id])
    const byPhone = await about(phone)
    expect(byPhone.data.people).toMatchObject([{ user_id: user.user_id, phone_number: '*******5678' }])
    expect(JSON.stringify(byPhone.data)).not.toContain(phone)
  })

  it('is shown with both the app and the person if the text matches both', async () => {
    const person = await client.makeUser()
    const named = await client.makeApp({ app_key: person.passport })
    const refused = await client.refresh(named, 'nonsense')
    await kept(idOf(refused))
    const { stdout } = await command(person.passport)
    expect(stdout).toMatch(/^app status +approved$/m)
    expect(stdout).toMatch(new RegExp(`^app app_key +${named.app_key}$`, 'm'))
    expect(stdout).toContain(`refusals of ${named.app_key}`)
    expect(stdout).toMatch(/^people\nUSER/m)
  })

  it('of an unauthenticated caller has the app that it named, if that exists', async () => {
    const wrong = (app_key: string) =>
      client.call(
        'POST',
        `/oauth/v2/api/token?app_key=${app_key}&app_secret=guessed&grant_type=refresh_token&visitor=x`,
      )
    const named = await wrong(app.app_key)
    const unknown = await wrong('my-own-password-typed-here')
    const broken = await wrong('%00')
    for (const answer of [named, unknown, broken]) await kept(idOf(answer))
    expect((await ask(`requests/${idOf(named)}`)).data.refusal).toMatchObject({
      endpoint: 'A3',
      failure: 'credentials_wrong',
      step: { row: 3 },
      app_key: app.app_key,
      proved: false,
      parameters: ['app_key', 'app_secret', 'grant_type', '(1_more)'],
    })
    expect((await ask(`requests/${idOf(unknown)}`)).data.refusal.app_key).toBeNull()
    expect(JSON.stringify(await rows('true'))).not.toMatch(/password-typed|guessed/)
  })

  it('of a standard OAuth endpoint has its failure but no row', async () => {
    const answer = await world.app.inject({
      method: 'POST',
      url: '/oauth2/token',
      payload: 'grant_type=authorization_code&client_id=nobody&client_secret=secret',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const id = String(answer.headers['x-request-id'])
    await kept(id)
    expect((await ask(`requests/${id}`)).data.refusal).toMatchObject({
      endpoint: '/oauth2/token',
      failure: 'credentials_wrong',
      step: null,
      app_key: null,
      parameters: ['grant_type', 'client_id', '(1_more)'],
    })
  })

  it('is shown with received and registered values, without queries and passwords of URIs', async () => {
    const browser = await client.signedIn(user, app)
    const open = async (changes: Record<string, string>) => {
      const page = await browser.open(client.authorizePath({ ...client.request(app), ...changes }))
      await kept(idOf(page))
      return (await ask(`requests/${idOf(page)}`)).data
    }
    const elsewhere = await open({ redirect_uri: 'https://elsewhere.example/cb?secret=typed#x' })
    expect(elsewhere.refusal.received).toEqual({ redirect_uri: 'https://elsewhere.example/cb?…' })
    expect(elsewhere.registered).toEqual({ hosts: [new URL(app.redirect_uri).host] })
    const named = await open({ redirect_uri: 'https://somebody:typed-password@elsewhere.example/cb' })
    expect(named.refusal.received).toEqual({ redirect_uri: 'https://…@elsewhere.example/cb' })
    const more = await open({ scope: 'NO_SUCH_SCOPE' })
    expect(more.refusal).toMatchObject({ failure: 'scope_unknown', received: { scope: 'NO_SUCH_SCOPE' } })
    expect(more.registered.scopes).toContain('USER_INFO')
    expect(JSON.stringify(await rows('true'))).not.toMatch(/secret=typed|typed-password/)
  })

  it('with a form has the named app and the prefix of the token; a session at A1 does not authenticate the app', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const payload = `grant_type=refresh_token&client_id=${app.app_key}&client_secret=no&refresh_token=ghrt_${'A'.repeat(43)}`
    const answer = await world.app.inject({ method: 'POST', url: '/oauth2/token', payload, headers })
    const id = String(answer.headers['x-request-id'])
    await kept(id)
    const { refusal } = (await ask(`requests/${id}`)).data
    expect(refusal).toMatchObject({ app_key: app.app_key, proved: false, token: `ghrt_${'A'.repeat(12)}` })
    const blocked = await client.makeUser()
    const browser = await client.signedIn(blocked, app)
    await client.block(blocked)
    const page = await browser.open(client.authorizePath(client.request(app)))
    await kept(idOf(page))
    expect((await ask(`requests/${idOf(page)}`)).data.refusal).toMatchObject({ app_key: app.app_key, proved: false })
  })

  it('is not recorded if it was successful', async () => {
    const tokens = await client.getTokens(await client.signedIn(user, app), app)
    const answer = await client.userInfo(tokens.access_token)
    expect(await ask(`requests/${idOf(answer)}`)).toMatchObject({ status: 404 })
  })
})

describe('the number of recorded rejections', () => {
  it('is limited in a burst of one caller; the others are only counted', async () => {
    const other = await client.makeApp({})
    const before = (await world.deps.metrics.refusalsLeftOut.get()).values[0]?.value ?? 0
    const ask = () => client.call('POST', `/oauth/v2/api/token?app_key=${other.app_key}&app_secret=${other.app_secret}`)
    const answers = await Promise.all(Array.from({ length: 300 }, ask))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await until(async () => (await rows(`app_key = '${other.app_key}'`)).length > 0)
    const leftOut = ((await world.deps.metrics.refusalsLeftOut.get()).values[0]?.value ?? 0) - before
    expect(leftOut).toBeGreaterThan(100)
    await until(async () => (await rows(`app_key = '${other.app_key}'`)).length === 300 - leftOut)
  })

  it('is counted for the network, not the app, if the app is unauthenticated', async () => {
    const victim = await client.makeApp({})
    const counts = { kind: 'refusal kept of app', most: 1_000, windowS: 86_400 }
    const ofApp = () => world.deps.rateLimiter.count(counts, victim.app_key).uses
    const before = ofApp()
    const claims = [
      await client.call('POST', `/oauth/v2/api/token?app_key=${victim.app_key}&app_secret=guessed`),
      await client.call('GET', `/oauth/v2/authorize?app_key=${victim.app_key}&redirect_uri=https://x.example`),
    ]
    for (const claim of claims) await kept(idOf(claim))
    expect(ofApp()).toBe(before + 1)
    expect((await rows(`app_key = '${victim.app_key}'`)).map(({ proved }) => proved)).toEqual([false, false])
  })

  it('is fifty in a burst of one network, without affecting another network', async () => {
    const from = (remoteAddress: string) =>
      world.app.inject({ method: 'POST', url: '/oauth/v2/api/token', remoteAddress })
    const burst = await Promise.all(Array.from({ length: 60 }, () => from('198.51.100.1')))
    const other = await from('198.51.100.2')
    await kept(String(other.headers['x-request-id']))
    const ids = burst.map(({ headers }) => `'${headers['x-request-id']}'`)
    expect(await rows(`request_id in (${ids})`)).toHaveLength(50)
  })

  it('is a thousand a day for an app', async () => {
    const busy = await client.makeApp({})
    for (let used = 0; used < 1_000; used++) {
      world.deps.rateLimiter.count({ kind: 'refusal kept of app', most: 1_000, windowS: 86_400 }, busy.app_key)
    }
    await client.call('POST', `/oauth/v2/api/token?app_key=${busy.app_key}&app_secret=${busy.app_secret}`)
    const later = await client.call('POST', `/oauth/v2/api/token?app_key=${app.app_key}&app_secret=${app.app_secret}`)
    await kept(idOf(later)) // written together with earlier rejections
    expect(await rows(`app_key = '${busy.app_key}'`)).toEqual([])
  })

  it('includes only the last thirty days, as older ones are purged', async () => {
    const columns = 'routing_key, endpoint, method, status, rescode, parameters, proved'
    await world.pool.query(
      `insert into refused_request (request_id, at, ${columns})
       select gen_random_uuid(), now() - interval '31 days', 0, 'A2', 'POST', 200, 20013, '', false from generate_series(1, 3)`,
    )
    const settings = { NODE_ENV: 'test', DATABASE_URL: world.databaseUrl, SECRET_KEY }
    const { stdout } = await gatehouse(settings, 'purge', '--json')
    expect(JSON.parse(stdout).deleted.refused_request).toBeGreaterThanOrEqual(3)
  })
})

describe('records of partners', () => {
  const notice = (secret: string, used: number) => {
    const date = formatHttpDate(world.clock.now())
    const headers = signedHeaders(
      { clientId: 'seller', partnerId: '7001', clientSecret: secret },
      { path: CONSUME, date },
    )
    const body = { orderId: 0, partnerOrderId: 'P-1', quantity: 3, usedQuantity: used, refundedQuantity: 0 }
    const payload = JSON.stringify({ partnerId: 7001, body }).replace('"orderId":0', `"orderId":${ORDER}`)
    return world.app.inject({ method: 'POST', url: CONSUME, headers: { ...headers }, payload })
  }

  it('a notice, rejected or accepted, is found by its request id', async () => {
    const refused = await notice('another-secret-another-secret-xx', 1)
    const id = String(refused.headers['x-request-id'])
    await until(async () => (await ask(`requests/${id}`)).status === 200)
    expect((await ask(`requests/${id}`)).data.rejected_call).toMatchObject({
      id,
      client_id: 'seller',
      path: CONSUME,
      verified: false,
    })
    const taken = await notice(SECRET, 1)
    expect(taken.json()).toMatchObject({ code: 200 })
    const takenId = String(taken.headers['x-request-id'])
    expect((await ask(`requests/${takenId}`)).data.notice).toMatchObject({
      id: takenId,
      client_id: 'seller',
      path: CONSUME,
    })
    const ofPartner = (await about('seller')).data.partner
    expect(ofPartner).toMatchObject({ partner_id: 7001, stage: 'live', rejected_calls: [{ id }] })
    const { stdout } = await command('seller')
    expect(stdout).toMatch(/^rejected_calls of 7001\nAT .*\n.*the signature does not match.* no$/m)
  })

  it('an order is shown with its history and its calls', async () => {
    const { data } = await about(String(ORDER))
    expect(data.order.history.length).toBeGreaterThan(0)
    expect((await command(String(ORDER))).stdout).toContain('used_quantity')
  })
})

describe('explain', () => {
  it('is only for operators, and reports that nothing was found', async () => {
    expect((await world.app.inject(`/admin/v1/requests/${randomUUID()}`)).statusCode).toBe(401)
    expect((await world.app.inject('/admin/v1/explain?about=x')).statusCode).toBe(401)
    for (const text of [randomUUID(), 'nobody', 'ghat_AAA', '13800000000', '%00', 'a b']) {
      const { status } = await about(text)
      expect(status, text).toBe(404)
    }
    expect((await about('\0')).status).toBe(400)
    expect((await ask('requests/nonsense')).status).toBe(400)
    const { code, stderr } = await command('nobody')
    expect(code).toBe(1)
    expect(stderr).toContain('no record of it')
    expect(stderr).toContain('audit list --request-id')
  })
})

it('a value truncated within an emoji is recorded, and so are the rejections written together with it', async () => {
  const ids = await Promise.all(
    [`${'a'.repeat(278)}🎫`, 'other'].map(async (path) => {
      const asked = {
        app_key: app.app_key,
        response_type: 'code',
        redirect_uri: `https://evil.example/${path}`,
        state: 's',
      }
      return idOf(await client.call('GET', `/oauth/v2/authorize?${new URLSearchParams(asked)}`))
    }),
  )
  for (const id of ids) await kept(id)
  const [row] = await rows(`request_id = '${ids[0]}'`)
  expect(row.received.redirect_uri).toHaveLength(299)
})

it('claims of a JWT that are no text do not keep the rejections written together with it from being recorded', async () => {
  const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
  const sent = [{ client_assertion: jwt({ iss: ['abcd'] }) }, { id_token_hint: jwt({ aud: [['abcd']] }) }]
  const ids = await Promise.all(
    [...sent, { app_key: app.app_key }].map(async (parameters) =>
      idOf(await client.call('POST', `/oauth/v2/api/resource/get_userinfo?${new URLSearchParams(parameters)}`)),
    ),
  )
  for (const id of ids) await kept(id)
  expect((await rows(`request_id = '${ids[0]}'`))[0].app_key).toBeNull()
})

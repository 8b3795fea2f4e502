import { gzipSync } from 'node:zlib'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMicroApp } from '../src/authorization/registry/index.ts'
import { ALICE } from './account/people.ts'
import { ADMIN_TOKEN, openWorld, type World } from './harness.ts'
import { newSandboxPartner, type SandboxPartner, sessionOf } from './sandbox/partners.ts'
import { signedHeaders } from './signer.ts'

/** Bodies and queries in other encodings, or compressed: they are rejected, and nothing of them is stored. */

/** "李雷" in GBK. */
const GBK = Buffer.from([0xc0, 0xee, 0xc0, 0xd7])
const GBK_ENCODED = '%C0%EE%C0%D7'

let world: World
let partner: SandboxPartner
let sandbox: string
beforeAll(async () => {
  world = await openWorld()
  partner = await newSandboxPartner(world)
  sandbox = await sessionOf(world, partner)
})
afterAll(() => world?.close())

interface Sent {
  readonly url: string
  readonly method?: 'PUT' | 'PATCH'
  readonly payload: Buffer | string
  readonly headers?: Record<string, string>
}

const send = ({ url, method, payload, headers = {} }: Sent): Promise<LightMyRequestResponse> =>
  world.app.inject({ method: method ?? 'POST', url, payload, headers })

const OPERATOR = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
const FORM = {
  'content-type': 'application/x-www-form-urlencoded',
  'sec-fetch-site': 'same-origin',
  accept: 'text/html',
}

/** The value as JSON, with `李雷` encoded in GBK. */
const inGbk = (value: object): Buffer => {
  const [before = '', after = ''] = JSON.stringify(value).split('李雷')
  return Buffer.concat([Buffer.from(before), GBK, Buffer.from(after)])
}

const USER = { ...ALICE, name: '李雷' }
const BATCH = { dry_run: true, users: [{ ...USER, password: undefined }] }
const JSON_BODIES: [string, string, object][] = [
  ['a user', '/admin/v1/users', USER],
  ['a dry run of an import', '/admin/v1/users/import', BATCH],
  ['an app', '/admin/v1/apps', { name: '李雷', scopes: ['USER_INFO'], hosts: ['shop.example'] }],
  ['a partner', '/admin/v1/partners', { name: '李雷' }],
]

describe('JSON sent by operators', () => {
  it.each(JSON_BODIES)(
    'that is not UTF-8 is rejected with the position, and nothing is stored: %s',
    async (_n, url, value) => {
      const column = JSON.stringify(value).indexOf('李雷') + 1
      const answer = await send({ url, payload: inGbk(value), headers: OPERATOR })
      expect([answer.statusCode, answer.json().data.message]).toEqual([
        400,
        `Invalid request: the body is not valid UTF-8 (line 1, column ${column})`,
      ])
      const { rows } = await world.pool.query(
        `select (select count(*)::int from user_profile) + (select count(*)::int from micro_app) as n`,
      )
      expect(rows).toEqual([{ n: 0 }])
    },
  )

  it.each(JSON_BODIES)(
    'in UTF-16, compressed or in another charset is rejected as such: %s',
    async (_n, url, value) => {
      const text = JSON.stringify(value)
      const answerTo = async (payload: Buffer, headers: Record<string, string> = {}) => {
        const answer = await send({ url, payload, headers: { ...OPERATOR, ...headers } })
        return [
          answer.statusCode,
          answer.json().data.message.replace('Invalid request: ', ''),
          answer.headers['accept-encoding'],
        ]
      }
      expect(await answerTo(Buffer.from(`\ufeff${text}`, 'utf16le'))).toEqual([
        400,
        'the body is UTF-16, not UTF-8',
        undefined,
      ])
      for (const coding of ['gzip', 'br', 'deflate, gzip']) {
        expect(await answerTo(gzipSync(text), { 'content-encoding': coding })).toEqual([
          415,
          `the body is compressed (Content-Encoding: ${coding}); send it uncompressed`,
          'identity',
        ])
      }
      const gbk = { 'content-type': 'application/json; charset=gbk' }
      expect(await answerTo(inGbk(value), gbk)).toEqual([415, 'Content-Type: charset must be utf-8', undefined])
    },
  )

  it('is accepted with a byte order mark, with the coding identity, and with a genuine U+FFFD', async () => {
    const user = { ...USER, user_id: 'marked', passport: 'marked', name: 'a\ufffdb' }
    const headers = { ...OPERATOR, 'content-type': 'application/json; charset="UTF-8"', 'content-encoding': 'identity' }
    const made = await send({ url: '/admin/v1/users', payload: `\ufeff${JSON.stringify(user)}`, headers })
    expect(made.json().data).toMatchObject({ name: 'a\ufffdb' })
    await world.pool.query('delete from user_credential')
    await world.pool.query('delete from user_profile')
  })

  it('may not come with a query that is not UTF-8, as the reason in it would be stored', async () => {
    const url = `/admin/v1/users/1/10001?reason=${GBK_ENCODED}`
    const answer = await world.app.inject({ url, headers: { authorization: OPERATOR.authorization } })
    expect([answer.statusCode, answer.json().data.message]).toEqual([400, 'Invalid request: reason is not valid UTF-8'])
  })
})

const fields = (name: string, text: Buffer | string): Buffer =>
  Buffer.concat([Buffer.from(`a=1&${name}=`), Buffer.from(text), Buffer.from('&b=2')])

const forms = (): [string, string, string, Record<string, string>][] => [
  ['sign-in', '/sign-in', 'passport', {}],
  ['consent', '/oauth/v2/consent', 'decision', {}],
  ['password', '/password', 'password', {}],
  ['sandbox: sign-in', '/sandbox/sign-in', 'client_id', {}],
  ['sandbox: conditions', '/sandbox/functions', 'contact_name', { cookie: sandbox }],
  ['console: sign-in', '/console/sign-in', 'name', {}],
]
const FORMS = ['sign-in', 'consent', 'password', 'sandbox: sign-in', 'sandbox: conditions', 'console: sign-in']

describe('a form', () => {
  const formNamed = (wanted: string) => forms().find(([name]) => name === wanted) ?? expect.fail(wanted)

  it.each(FORMS)('that is not UTF-8 is rejected, raw or percent-encoded: %s', async (wanted) => {
    const [, url, name, more] = formNamed(wanted)
    const headers = { ...FORM, ...more }
    const raw = await send({ url, payload: fields(name, GBK), headers })
    expect(raw.statusCode).toBe(url.startsWith('/oauth/v2') ? 200 : 400)
    expect(raw.body).toContain(`not valid UTF-8 (line 1, column ${name.length + 6})`)
    const encoded = await send({ url, payload: fields(name, GBK_ENCODED), headers })
    expect(encoded.body).toContain(`${name} is not valid UTF-8`)
  })

  it.each(FORMS)('that is compressed, or not ASCII in another charset, gets 415: %s', async (wanted) => {
    const [, url, name, more] = formNamed(wanted)
    const headers = { ...FORM, ...more }
    const compressed = await send({
      url,
      payload: gzipSync(fields(name, 'x')),
      headers: { ...headers, 'content-encoding': 'gzip' },
    })
    expect([compressed.statusCode, compressed.headers['accept-encoding']]).toEqual([415, 'identity'])
    expect(compressed.body).toContain('compressed (Content-Encoding: gzip)')
    const type = 'application/x-www-form-urlencoded; charset=GBK'
    const other = await send({ url, payload: fields(name, GBK_ENCODED), headers: { ...headers, 'content-type': type } })
    expect([other.statusCode, other.body.includes('charset must be utf-8')]).toEqual([415, true])
    const ascii = await send({ url, payload: fields(name, 'x%20y'), headers: { ...headers, 'content-type': type } })
    expect(ascii.statusCode).not.toBe(415)
  })

  it('with tens of thousands of fields of one name is parsed quickly', async () => {
    for (const field of ['a&', 'a=%41&']) {
      const before = process.cpuUsage()
      const payload = field.repeat(Math.floor(65_000 / field.length))
      expect((await send({ url: '/sandbox/sign-in', payload, headers: FORM })).statusCode).toBe(400)
      expect(process.cpuUsage(before).user / 1_000, 'milliseconds of processor time').toBeLessThan(1_000)
    }
  })

  it('may contain a percent sign that begins no escape, and raw UTF-8', async () => {
    const payload = { ...ALICE, user_id: 'percent', passport: '李雷', password: '100% sure? +1' }
    await send({ url: '/admin/v1/users', payload: JSON.stringify(payload), headers: OPERATOR })
    const signIn = (body: string) => send({ url: '/sign-in', payload: body, headers: FORM })
    expect((await signIn('passport=李雷&password=100% sure? %2B1')).statusCode).toBe(303)
    expect((await signIn('passport=%E6%9D%8E%E9%9B%B7&password=100%25+sure%3F+%2B1')).statusCode).toBe(303)
  })
})

it.each([
  ['the operators’ API', '/admin/v1/users', FORM, 'application/json'],
  ['the sign-in', '/sign-in', { 'content-type': 'application/json' }, FORM['content-type']],
  ['the consent form', '/oauth/v2/consent', { 'content-type': 'text/plain' }, FORM['content-type']],
  ['the sign-in of operators', '/console/sign-in', { 'content-type': 'text/json' }, FORM['content-type']],
])('%s names the Content-Type that it expects', async (_name, url, headers, type) => {
  const answer = await send({ url, payload: 'x=1', headers: { ...OPERATOR, accept: 'application/json', ...headers } })
  expect(answer.json().data.message).toBe(`Invalid request: Content-Type must be ${type}`)
})

describe('the standard OAuth endpoints', () => {
  it('all report a form that is not UTF-8 or is compressed', async () => {
    const app = await createMicroApp(
      world.deps,
      createMicroApp.input.parse({ name: 'App', scopes: ['USER_INFO'], hosts: ['shop.example'] }),
    )
    const [id, secret] = [app.app_key, app.app_secret]
    const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
    const headers = { ...FORM, authorization, accept: '*/*' }
    for (const path of ['token', 'revoke', 'introspect', 'par', 'userinfo']) {
      const url = `/oauth2/${path}`
      const gbk = await send({ url, payload: fields('token', GBK), headers })
      expect([gbk.statusCode, gbk.json()]).toEqual([
        400,
        { error: 'invalid_request', error_description: 'the body is not valid UTF-8 (line 1, column 11)' },
      ])
      const payload = gzipSync('grant_type=authorization_code')
      const compressed = await send({ url, payload, headers: { ...headers, 'content-encoding': 'gzip' } })
      expect([compressed.statusCode, compressed.headers['accept-encoding'], compressed.json()]).toEqual([
        415,
        'identity',
        {
          error: 'invalid_request',
          error_description: 'the body is compressed (Content-Encoding: gzip); send it uncompressed',
        },
      ])
    }
    const latin = Buffer.concat([Buffer.from(`${id}:`), Buffer.from([0xe9])]).toString('base64')
    const basic = await send({
      url: `/oauth/v2/api/token?grant_type=refresh_token&refresh_token=x`,
      payload: '',
      headers: { authorization: `Basic ${latin}` },
    })
    expect(basic.json().rescode).toBe(20002)
  })
})

describe('a partner', () => {
  const call = (path: string, payload: Buffer | string, more: Record<string, string> = {}) => {
    const credentials = {
      partnerId: String(partner.partner_id),
      clientId: partner.client_id,
      clientSecret: partner.client_secret,
    }
    const date = world.clock.now().toUTCString()
    return send({ url: path, payload, headers: { ...signedHeaders(credentials, { path, date }), ...more } })
  }
  const PATHS = ['/mtp/api/order/consume/notice', '/sandbox/api/runs']

  it.each(PATHS)('gets an error in its envelope for a body that is compressed or not UTF-8: %s', async (path) => {
    const notice = JSON.stringify({ partnerId: Number(partner.partner_id), body: {} })
    expect((await call(path, gzipSync(notice), { 'content-encoding': 'gzip' })).json()).toMatchObject({
      describe: 'HTTP body: compressed (Content-Encoding: gzip); send it uncompressed',
    })
    expect((await call(path, Buffer.from(notice, 'utf16le'))).json()).toMatchObject({
      describe: 'HTTP body: UTF-16, not UTF-8',
    })
    expect((await call(path, inGbk({ name: '李雷' }))).json()).toMatchObject({
      describe: expect.stringMatching(/^HTTP body: not valid UTF-8/),
    })
  })

  it.each(['identity', 'utf-8', 'UTF8'])(
    'may name its charset as Content-Encoding, which is no coding: %s',
    async (coding) => {
      const notice = JSON.stringify({ partnerId: Number(partner.partner_id), body: { partnerDealId: 'P', status: 0 } })
      const answer = await call('/mtp/api/deal/change/notice', Buffer.from(notice), { 'content-encoding': coding })
      expect(answer.json()).toMatchObject({ code: 200 })
    },
  )

  it('is warned by the signature tool that a body is compressed', async () => {
    const path = '/mtp/api/order/test/ba'
    const answer = await call(path, gzipSync('{}'), { 'content-encoding': 'gzip' })
    expect(answer.json()).toMatchObject({ code: 200, warnings: ['body-compressed'] })
  })

  it('sees in its traffic that a body was compressed, but not the bytes', async () => {
    const { rows } = await world.pool.query(`select body from rejected_call where body like '%Content-Encoding%'`)
    expect(rows).toEqual([{ body: '(not kept: its Content-Encoding is not read)' }])
  })
})

it('nothing stored contains a U+FFFD that nobody sent', async () => {
  const { rows } = await world.pool.query(
    `select name from user_profile where name like '%\ufffd%' union all select name from partner where name like '%\ufffd%'
     union all select passport from user_credential where passport like '%\ufffd%'`,
  )
  expect(rows).toEqual([])
})

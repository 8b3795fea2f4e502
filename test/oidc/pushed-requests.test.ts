import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purgeOftenTask } from '../../src/operations/jobs/purge.ts'
import { CRON_TASKS } from '../../src/operations/jobs/tasks.ts'
import { Client, pkcePair } from '../acceptance/client.ts'
import { type Answer, header, injectWire, queryOf } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { bodyOf, CALLBACK, type Parameters, StandardApp } from './app.ts'

/** How much strangers can make the service store by pushing requests, and for how long. */

let world: World
let client: Client
let rp: StandardApp
let publicApp: StandardApp
beforeAll(async () => {
  world = await openWorld({
    ...{ TRUST_PROXY: '127.0.0.1', AUTHORIZE_PER_MINUTE: '1000000', PUSHED_REQUESTS_PER_MINUTE: '100000' },
    PUSHED_BYTES_PER_MINUTE: '240000',
  })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client)
  publicApp = await StandardApp.make(client, { token_auth_methods: ['none'] })
})
afterAll(() => world?.close())

const PKCE = { code_challenge: pkcePair().challenge, code_challenge_method: 'S256' }
let networks = 0
const push = (changes: Parameters = {}, by = rp, address = `198.51.${++networks % 250}.1`) =>
  by.post(
    'par',
    { ...by.request({ ...PKCE, ...changes }), ...(by === rp ? rp.credentials : {}) },
    {
      'x-forwarded-for': address,
    },
  )
const openWith = (request_uri: unknown, by = rp) =>
  client.call('GET', `/oauth2/authorize?${queryOf({ client_id: by.app.app_key, request_uri: String(request_uri) })}`)
const stored = async (): Promise<{ rows: number; longest: number }> =>
  (
    await world.pool.query(
      'select count(*)::int as rows, coalesce(max(length(parameters)), 0) as longest from pushed_request',
    )
  ).rows[0]
const forget = () => world.pool.query('truncate pushed_request')

describe('a pushed request', () => {
  it('expires exactly when announced, at whatever fraction of a second it came', async () => {
    for (const part of [0.001, 0.4, 0.999]) {
      world.clock.advance(part)
      const [early, late] = [bodyOf(await push(), 201), bodyOf(await push(), 201)]
      world.clock.advance(59.999)
      expect((await openWith(early.request_uri)).status).toBe(303)
      world.clock.advance(0.001)
      expect((await openWith(late.request_uri)).status).toBe(400)
    }
  })

  it.each<[string, Parameters]>([
    ['prompt', { prompt: 'login '.repeat(2_000) }],
    ['state', { state: 'x'.repeat(1_025) }],
    ['scope', { scope: `openid ${'x'.repeat(1_020)}` }],
    ['nonce', { nonce: 'n'.repeat(513) }],
  ])('is refused for an over-long %s', async (name, changes) => {
    expect(bodyOf(await push(changes), 400)).toEqual({
      error: 'invalid_request',
      error_description: `${name} is malformed`,
    })
  })

  it.each(['login_hint', 'ui_locales', 'acr_values', 'claims_locales', 'no_such_parameter'])(
    'drops an over-long %s, and works without it',
    async (name) => {
      await forget()
      const { request_uri } = bodyOf(await push({ [name]: 'x'.repeat(50_000) }), 201)
      expect((await stored()).longest).toBeLessThan(1_000)
      expect((await openWith(request_uri)).status).toBe(303)
    },
  )

  it.each<[string, Parameters]>([
    ['with bytes that take three characters each', { state: 'ä'.repeat(512), nonce: 'ö'.repeat(256) }],
    ['with a long scope', { scope: `openid ${'é'.repeat(508)}`, state: 'ä'.repeat(512) }],
    ['with all hints', { login_hint: 'é'.repeat(256), acr_values: 'ß'.repeat(256), nonce: 'ö'.repeat(256) }],
  ])('%s is refused at the push or works, but never fails later', async (_what, changes) => {
    const answer = await push(changes)
    if (answer.status === 400) return expect(bodyOf(answer, 400).error).toBe('invalid_request')
    const page = await openWith(bodyOf(answer, 201).request_uri)
    expect([page.status, header(page, 'location')]).toEqual([
      303,
      expect.stringMatching(/^\/oauth2\/authorize\?continue=/),
    ])
    const next = await client.call('GET', header(page, 'location'))
    expect([next.status, header(next, 'location')]).toEqual([303, expect.stringMatching(/^\/sign-in\?/)])
  })

  it('that is too long for the pages to carry is refused at the push', async () => {
    await forget()
    const answer = await push({ state: 'ä'.repeat(512), nonce: 'ö'.repeat(256), scope: `openid ${'é'.repeat(508)}` })
    expect(bodyOf(answer, 400)).toEqual({ error: 'invalid_request', error_description: 'the request is too long' })
    expect((await stored()).rows).toBe(0)
  })

  it('is purged within minutes after it expires, used or not', async () => {
    await forget()
    for (let times = 0; times < 3; times++) bodyOf(await push(), 201)
    const purge = () =>
      purgeOftenTask(world.deps, {}, { id: '1', log: world.log, signal: new AbortController().signal })
    world.clock.advance(119)
    await purge()
    expect((await stored()).rows).toBe(3)
    world.clock.advance(2)
    await purge()
    expect((await stored()).rows).toBe(0)
    expect(CRON_TASKS).toContainEqual({ task: 'purge-often', match: '*/2 * * * *' })
    const { rows } = await world.pool.query('select purged_at from installation')
    expect(rows.map(({ purged_at }) => purged_at)).not.toContainEqual(expect.any(Date))
  })
})

describe('the bytes stored per minute', () => {
  const big = { state: 's'.repeat(1_000), nonce: 'n'.repeat(500) }
  const pushUntilRefused = async (send: () => Promise<Answer>) => {
    for (let pushed = 0; pushed < 200; pushed++) {
      const answer = await send()
      if (answer.status === 201) continue
      expect([answer.status, Number(header(answer, 'retry-after')) > 0]).toEqual([429, true])
      return pushed
    }
    throw new Error('nothing was refused')
  }

  it('are limited per network across all public apps', async () => {
    const other = await StandardApp.make(client, { token_auth_methods: ['none'] })
    let turn = 0
    const pushed = await pushUntilRefused(() => push(big, ++turn % 2 ? publicApp : other, `2001:db8::${turn}`))
    expect(pushed).toBeGreaterThan(3)
    expect(pushed).toBeLessThan(12)
    expect((await push(big, publicApp, '2001:db8::ffff')).status).toBe(429)
    expect((await push(big, publicApp, '192.0.2.9')).status).toBe(201)
    expect((await push(big, rp, '2001:db8::1')).status).toBe(201)
  })

  it('are limited per app across all networks', async () => {
    const [anybody, own] = [
      await StandardApp.make(client, { token_auth_methods: ['none'] }),
      await StandardApp.make(client),
    ]
    expect(await pushUntilRefused(() => push(big, anybody))).toBeLessThan(180)
    const body = { ...own.request({ ...PKCE, ...big }), ...own.credentials }
    expect(await pushUntilRefused(() => own.post('par', body))).toBeLessThan(180)
    expect((await push({ redirect_uri: CALLBACK })).status).toBe(201)
  })
})

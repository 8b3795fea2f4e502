import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperator } from '../../src/operations/operators/index.ts'
import { gatehouse } from '../cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'
import { addressOf, type Filled, fill, VISITOR } from './filled.ts'
import { type Person, signedIn } from './person.ts'

/** Calls, notices and certification runs of all partners, as operators see them. */

let world: World
let filled: Filled
let viewer: Person
let support: Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  viewer = (await signedIn(world, 'viewer')).person
  support = (await signedIn(world, 'support')).person
})
afterAll(() => world.close())

const insertNotices = (from: number, to: number, path: string) =>
  world.pool.query(
    `insert into notice (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer)
     select 'c', $4, sha256(($4 || n)::bytea), gen_random_uuid(), $5, $3::timestamptz - n * interval '1 s', '{}', '{"code":200}'
     from generate_series($1::int, $2::int) n`,
    [from, to, world.clock.now(), path, filled.partner_id],
  )
const nextOf = (page: string): string => /href="(\?[^"]*)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''

describe('the list', () => {
  it('shows and filters calls in both directions, each with a link to its page', async () => {
    const { text } = await viewer.get('/console/traffic')
    expect(text).toContain('Platform → partner: Order query')
    expect(text).toContain(`/console/traffic/${filled.partner_id}/call/${filled.id}`)
    expect(text).toContain(`/console/traffic/${filled.partner_id}/rejected/`)
    expect((await viewer.get('/console/traffic?partner_id=1')).text).toContain('Nothing matches the filter.')
    expect((await viewer.get('/console/traffic?code=300')).text).toContain('/rejected/')
    expect((await viewer.get('/console/traffic?code=300')).text).not.toContain('/call/')
    expect((await viewer.get('/console/traffic?to=2020-01-01')).text).toContain('Nothing matches the filter.')
    const today = world.clock.now().toISOString().slice(0, 10)
    expect((await viewer.get(`/console/traffic?from=${today}&to=${today}`)).text).toContain('/call/')
    expect((await viewer.get('/console/traffic?code=x')).status).toBe(400)
  })

  it('can be limited to failures, which the page of a partner links to', async () => {
    await insertNotices(3_000, 3_001, '/mtp/api/product/change')
    const failed = `/console/traffic?partner_id=${filled.partner_id}&outcome=failed`
    const partner = (await viewer.get(`/console/partners/${filled.partner_id}`)).text
    expect(partner).toContain(`href="${failed.replaceAll('&', '&amp;')}"`)
    for (const page of [failed, '/console/traffic?outcome=failed']) {
      const { text } = await viewer.get(page)
      expect(text).toContain('/call/')
      expect(text).toContain('/rejected/')
      expect(text).not.toContain('/notice/')
    }
    const { text } = await viewer.get('/console/traffic?outcome=ok')
    expect(text).toContain('/notice/')
    expect(text).not.toMatch(/traffic\/\d+\/(?:call|rejected)/)
    expect((await viewer.get('/console/traffic?outcome=x')).status).toBe(400)
  })

  it('shows every call once, page by page', async () => {
    await insertNotices(1, 120, '/mtp/api/order/consume/notice')
    const seen: string[] = []
    for (let query = '?path=consume'; query !== '' && seen.length < 500; ) {
      const { text } = await viewer.get(`/console/traffic${query}`)
      seen.push(...[...text.matchAll(/\/notice\/([0-9a-f-]{36})"/g)].map(([, id = '']) => id))
      query = nextOf(text)
    }
    expect([seen.length, new Set(seen).size]).toEqual([120, 120])
  })

  it('searches a thousand calls at a time for a path, and says that there are more', async () => {
    await insertNotices(200, 1_400, '/mtp/api/order/consume/notice')
    await insertNotices(5_000, 5_000, '/far/away')
    const first = (await viewer.get('/console/traffic?path=%2Ffar%2F')).text
    expect(first).toContain('The next page looks further back.')
    const second = (await viewer.get(`/console/traffic${nextOf(first)}`)).text
    expect(second).toContain('/far/away')
    expect(nextOf(second)).toBe('')
  })
})

describe('a call', () => {
  const page = () => addressOf('/traffic/:partner_id/:kind/:id', filled)

  it('is shown to everybody with links, but without personal data', async () => {
    for (const who of [viewer, support]) {
      const { text } = await who.get(page())
      expect(text).toContain('***')
      expect(text).not.toContain(VISITOR)
      expect(text).toContain('href="/console/orders/88001"')
    }
    const other = `/console/traffic/1/call/${filled.id}`
    expect((await viewer.get(other)).status).toBe(404)
    expect((await viewer.get(`/console/traffic/${filled.partner_id}/call/${randomUUID()}`)).status).toBe(404)
  })

  it('shows nothing of a body that is not JSON', async () => {
    const { call_id } = (await world.pool.query('select call_id from rejected_call limit 1')).rows[0]
    const { text } = await viewer.get(`/console/traffic/${filled.partner_id}/rejected/${call_id}`)
    expect(text).toContain('It cannot be read as JSON and may hold personal data')
    expect(text).toContain(`href="/console/requests/${call_id}"`)
    expect(text).not.toContain('<pre')
  })

  it('that was rejected shows the reason in the language of the page, wherever it is listed', async () => {
    const { call_id, client_id } = (
      await world.pool.query(
        `update rejected_call set reason = '{"id": "signature-unfit", "values": {}}' where call_id = (select call_id from rejected_call limit 1)
         returning call_id, client_id`,
      )
    ).rows[0]
    for (const path of [`requests/${call_id}?`, `search?q=${client_id}&`, 'traffic?']) {
      const { text } = await support.get(`/console/${path}ui_locales=zh-CN`)
      expect(text, path).toContain('签名不匹配')
      expect(text, path).not.toContain('the signature does not match')
    }
  })

  it.each([
    [{ id: 'signature-mistakes', values: { mistakes: 'signature-unrecognised' } }, '该签名不符合任何一种已知错误'],
    [{ id: 'signature-mistakes', values: { mistakes: 'newline-missing, base64-twice' } }, 'Base64'],
    [{ id: 'partner-id-missing', values: {} }, '缺少'],
    [{ id: 'query-signed', values: {} }, '查询'],
  ])('with mistakes in its signature has them explained in words: %j', async (reason, told) => {
    const { call_id, client_id } = (
      await world.pool.query(
        `update rejected_call set reason = $1, answer = '{"code":300,"describe":"BA_FAILED"}'
         where call_id = (select call_id from rejected_call limit 1) returning call_id, client_id`,
        [reason],
      )
    ).rows[0]
    const page = `traffic/${filled.partner_id}/rejected/${call_id}`
    for (const path of [`requests/${call_id}?`, `search?q=${client_id}&`, 'traffic?', `${page}?`]) {
      const { text } = await support.get(`/console/${path}ui_locales=zh-CN`)
      expect(text, path).toContain(told)
      expect(text, path).not.toMatch(/signature-unrecognised|newline-missing|partner-id-missing|query-signed|does not/)
    }
  })

  it('that represents further calls says so in words meant for operators', async () => {
    await world.pool.query('update rejected_call set left_out = 7')
    for (const [locale, told, never] of [
      ['en', '7 more unverified calls that name the clientId of this partner', 'your'],
      ['zh-CN', '另有 7 次使用该合作方 clientId 且未验证的调用', '您'],
    ] as const) {
      const { text } = await viewer.get(`/console/traffic?ui_locales=${locale}`)
      expect(text).toContain(told)
      expect(text).not.toContain(never)
    }
    await world.pool.query('update rejected_call set left_out = null')
  })

  it('is shown unmasked to support for a reason, which is audited', async () => {
    expect((await viewer.get(page())).text).not.toContain('/unmask')
    for (const reason of ['', '   ', 'no']) {
      expect((await support.submit(`${page()}/unmask`, { reason })).status, reason).toBe(400)
    }
    const { text } = await support.submit(`${page()}/unmask`, { reason: 'the visitor asked' })
    expect(text).toContain(VISITOR)
    const { rows } = await world.pool.query("select * from audit_event where event = 'personal_data_read'")
    expect(rows).toMatchObject([
      { target: `call:${filled.id}`, partner_id: filled.partner_id, detail: { reason: 'the visitor asked' } },
    ])
  })
})

it('the page of a partner shows its certification runs, and that of a run its steps', async () => {
  const partner = await viewer.get(addressOf('/partners/:partner_id', filled))
  expect(partner.text).toContain(`/runs/${filled.run_id}`)
  expect(partner.text).toContain('0 / 1')
  const run = await viewer.get(addressOf('/partners/:partner_id/runs/:run_id', filled))
  expect(run.text).toContain('<code>heartbeat</code>')
  expect(run.text).toContain('Not tried yet')
  expect((await viewer.get(`/console/partners/${filled.partner_id}/runs/${randomUUID()}`)).status).toBe(404)
})

const askApi = async (role: 'viewer' | 'support', path: string) => {
  const { token } = await createOperator(world.deps, { name: `api-${randomUUID()}`, role, days: 1 })
  return world.app.inject({ url: `/admin/v1${path}`, headers: { authorization: `Bearer ${token}` } })
}

it('the API returns runs, their steps and the timeline of an order', async () => {
  const { partner_id, run_id, order_id } = filled
  const { runs } = (await askApi('viewer', `/partners/${partner_id}/runs`)).json().data
  expect(runs).toMatchObject([{ run_id, number: 1, state: 'under_way', passed: 0, steps_total: 1 }])
  const whole = (await askApi('viewer', `/partners/${partner_id}/runs/${run_id}`)).json().data
  expect(whole).toEqual({
    run: {
      ...{ partner_id: Number(partner_id), run_id, number: 1, state: 'under_way' },
      ...{ created_at: runs[0].created_at, passed_at: null },
    },
    steps: [{ step_id: 'heartbeat', state: 'open', attempts: 0, last_attempt: null }],
  })
  expect((await askApi('viewer', '/partners/1/runs')).statusCode).toBe(404)
  for (const role of ['viewer', 'support'] as const) {
    const { timeline, is_cut } = (await askApi(role, `/orders/${order_id}/timeline`)).json().data
    expect(timeline, role).toMatchObject([
      { kind: 'call', name: 'order-query', partner_id: Number(partner_id), detail: '***' },
      { record: 'order', id: order_id, from: 'paying', to: 'paid' },
    ])
    expect(is_cut).toBe(false)
  }
  expect((await askApi('viewer', '/orders/1/timeline')).statusCode).toBe(404)
})

describe('a call over the API and on the command line', () => {
  const ask = (role: 'viewer' | 'support', path: string) => askApi(role, `/traffic/${path}`)

  it('has masked bodies', async () => {
    for (const role of ['viewer', 'support'] as const) {
      const { data } = (await ask(role, filled.id)).json()
      expect(data).toMatchObject({ kind: 'call', id: filled.id, partner_id: Number(filled.partner_id), masked: true })
      expect(data.request.body).toContain('***')
      expect(JSON.stringify(data)).not.toContain(VISITOR)
    }
    const { call_id } = (await world.pool.query('select call_id from rejected_call limit 1')).rows[0]
    expect((await ask('viewer', call_id)).json().data).toMatchObject({ kind: 'rejected', request: { body: '' } })
    expect((await ask('viewer', randomUUID())).statusCode).toBe(404)
    expect((await ask('viewer', 'nonsense')).statusCode).toBe(400)
  })

  it('has unmasked bodies for support with a reason, which is audited', async () => {
    const reason = '?reason=a+complaint'
    expect((await ask('viewer', filled.id + reason)).statusCode).toBe(403)
    const answer = await ask('support', filled.id + reason)
    expect(answer.json().data.request.body).toContain(VISITOR)
    const query = "select * from audit_event where event = 'personal_data_read' and detail ->> 'reason' = 'a complaint'"
    expect((await world.pool.query(query)).rows).toMatchObject([
      { target: `call:${filled.id}`, partner_id: filled.partner_id, actor: 'operator' },
    ])
  })

  it('is found by its name in the list', async () => {
    const cli = (...words: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'traffic', ...words)
    const [, listed = ''] = /(call\/[0-9a-f-]{36})/.exec((await cli('list')).stdout) ?? []
    const masked = await cli('show', listed)
    expect(masked.stdout).toMatch(new RegExp(`^id +${listed.split('/')[1]}$`, 'm'))
    expect(masked.stdout).not.toContain(VISITOR)
    expect((await cli('show', filled.id, '--reason', 'a complaint')).stdout).toContain(VISITOR)
  })
})

it('a timeline that omits older calls says so, on the page and on the command line', async () => {
  const told = 'Only the newest 200 calls are shown.'
  const cli = (...words: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, ...words)
  const both = async () => [
    (await viewer.get(`/console/orders/${filled.order_id}`)).text,
    (await cli('order', 'timeline', filled.order_id)).stdout,
  ]
  for (const shown of await both()) expect(shown).not.toContain('Only the newest')
  await world.pool.query(
    `insert into partner_call (call_id, partner_id, interface, order_id, started_at, duration_ms, url, request_headers,
       request_body, cause)
     select gen_random_uuid(), $1, 'order-query', $2, $3, 5, '', '{}', '{}', 'schedule' from generate_series(1, 200)`,
    [filled.partner_id, filled.order_id, world.clock.now()],
  )
  for (const shown of await both()) expect(shown.includes(told)).toBe(true)
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { gatehouse } from '../cli-runner.ts'
import { nodesOf, rowsTouched, watchPlans } from '../db/seen-plans.ts'
import { ADMIN_TOKEN, openWorld, SECRET_KEY, type World } from '../harness.ts'

/** The traffic of all partners, for operators: over HTTP, on the command line, and the query plans behind it. */

const ROWS = 20_000
const PARTNERS = 50

let world: World
let plans: Awaited<ReturnType<typeof watchPlans>>
beforeAll(async () => {
  world = await openWorld()
  for (const partner_id of [7001, 7002]) {
    const given = { partner_id, client_id: `seller-${partner_id}`, name: 'Seller' }
    await createPartner(world.deps, newPartner.parse(given), '123456ce8b61f8e608eaf2e9702864a9')
  }
  const now = world.clock.now()
  const ofSeries = `from generate_series(1, ${ROWS}) n`
  await world.pool.query(
    `insert into notice (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer)
     select 'c', '/mtp/api/order/consume/notice', sha256(n::text::bytea), gen_random_uuid(), 7001 + n % ${PARTNERS},
       $1::timestamptz - n * interval '1 s', '{}', '{"code":200}' ${ofSeries}`,
    [now],
  )
  await world.pool.query(
    `insert into partner_call (call_id, partner_id, interface, started_at, duration_ms, url, request_headers, request_body, cause)
     select gen_random_uuid(), 7001 + n % 2, 'order-query', $1::timestamptz - n * interval '1 s', 5,
       'https://a.example/query', '{}', '{}', 'schedule' ${ofSeries}`,
    [now],
  )
  await world.pool.query('analyze')
  plans = await watchPlans(world)
})
afterAll(async () => {
  plans?.stop()
  await world?.close()
})

const ask = async (query: Readonly<Record<string, string>>) => {
  const { statusCode, body } = await world.app.inject({
    url: `/admin/v1/traffic?${new URLSearchParams(query)}`,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  return { status: statusCode, data: JSON.parse(body).data }
}

describe('GET /admin/v1/traffic', () => {
  it('returns every call once, from page to page', async () => {
    const ids: string[] = []
    let next: string | undefined
    for (let page = 0; page < 4; page++) {
      const { data } = await ask({ partner_id: '7001', limit: '100', ...(next ? { after: next } : {}) })
      ids.push(...data.traffic.map((line: { id: string }) => line.id))
      next = data.next
    }
    expect(new Set(ids).size).toBe(400)
  })

  it('refuses unknown parameters and invalid values', async () => {
    for (const query of [{ strange: '1' }, { code: 'x' }, { limit: '1001' }, { from: 'never' }, { after: 'x' }]) {
      expect((await ask(query)).status, JSON.stringify(query)).toBe(400)
    }
  })

  it.each([
    ['of all partners', {}],
    ['of one partner', { partner_id: '7001' }],
    ['of a partner with few calls', { partner_id: '7003' }],
    ['by path', { path: '/nowhere' }],
    ['by code', { code: '300' }],
    ['by path and code, of one partner', { path: 'consume', code: '200', partner_id: '7001' }],
    ['of a period', { from: '2026-05-01', to: '2026-05-06T08:00:00Z' }],
  ])('uses indexes and reads no more rows than a page or a window has: %s', async (_, query) => {
    const seen = await plans.during(() => ask(query))
    const own = seen.filter(({ text }) => text.includes('sandbox_outgoing'))
    expect(own.length).toBeGreaterThan(0)
    for (const plan of own) {
      const scans = nodesOf(plan.root).filter((node) =>
        ['notice', 'partner_call'].includes(node['Relation Name'] ?? ''),
      )
      expect(scans.filter((node) => node['Node Type'] === 'Seq Scan').length, plan.text).toBe(0)
      expect(rowsTouched(plan), plan.text).toBeLessThan(3_100)
    }
  })
})

it('gatehouse traffic list shows the same', async () => {
  const settings = { NODE_ENV: 'test', DATABASE_URL: world.databaseUrl, SECRET_KEY }
  const { stdout } = await gatehouse(settings, ...'traffic list --partner-id 7002 --limit 3'.split(' '))
  expect(stdout).toMatch(/AT +PARTNER +WAY/)
  expect(stdout).toContain('more: --after ')
  const { data } = await ask({ partner_id: '7002', limit: '3' })
  for (const { id } of data.traffic) expect(stdout).toContain(id)
})

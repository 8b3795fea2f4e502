import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperator } from '../../src/operations/operators/index.ts'
import { recordAudit } from '../../src/platform/audit/index.ts'
import { gatehouse } from '../cli-runner.ts'
import { ADMIN_TOKEN, openWorld, SECRET_KEY, type World } from '../harness.ts'

/** The audit log in the admin API and on the command line. */

let world: World
beforeAll(async () => {
  world = await openWorld()
  for (let n = 0; n < 25; n++) {
    if (n % 3 === 0) world.clock.advance(60)
    await recordAudit(world.deps, {
      event: n % 2 ? 'app_updated' : 'partner_updated',
      actor: { kind: 'operator', name: n < 5 ? 'lin' : 'ma', address: '192.0.2.9', requestId: `request-${n}` },
      ...(n % 2 ? { appKey: 'mine' } : { partnerId: 7n }),
      detail: { n, text: '=1+1,"x"' },
    })
  }
})
afterAll(() => world.close())

const get = (path: string) =>
  world.app.inject({ url: `/admin/v1/audit${path}`, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
const list = async (query: string) => (await get(query)).json().data

describe('GET /admin/v1/audit', () => {
  it('tells who did what, in which request', async () => {
    const { events, next } = await list('?limit=1')
    expect(events).toEqual([
      {
        id: expect.any(String),
        at: world.clock.now().toISOString(),
        actor: { kind: 'operator', name: 'ma' },
        action: 'partner_updated',
        target: 'partner:7',
        outcome: 'done',
        app_key: null,
        partner_id: '7',
        cid: null,
        user_id: null,
        address: '192.0.2.9',
        request_id: 'request-24',
        detail: { n: 24, text: '=1+1,"x"' },
      },
    ])
    expect(next).toEqual(expect.any(String))
  })

  it('finds what one request did', async () => {
    const { events, next } = await list('?request_id=request-7')
    expect(events).toMatchObject([{ request_id: 'request-7', detail: { n: 7 } }])
    expect(next).toBeNull()
  })

  it.each([
    ['from=2026-05-06&to=2026-05-06', true],
    ['from=2026-05-05&to=2026-05-05', false],
    ['from=2026-05-07', false],
    ['to=2026-05-06', true],
    ['to=2026-05-06T00:00:00Z', false],
    ['from=2026-05-06T18:00:00%2B08:00&to=2026-05-07T00:00:00%2B08:00', true],
    ['from=1000-01-01&to=9999-12-31', true],
  ])('accepts whole days in UTC, both inclusive, or moments: %s', async (query, found) => {
    expect((await list(`?${query}&target=partner:7&action=partner_`)).events.length > 0).toBe(found)
  })

  it.each(['from', 'to'])('refuses a %s that is neither a day nor a moment', async (field) => {
    for (const value of ['2026-02-30', '5', '2026-05-06 10:00', '0000-01-01', '2026-05-06T10:00:00', 'x']) {
      expect((await get(`?${field}=${encodeURIComponent(value)}`)).statusCode, value).toBe(400)
    }
  })

  it.each(['list', 'export'])('accepts whole days on the command line too: %s', async (command) => {
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY }
    const on = (day: string) =>
      gatehouse(settings, 'audit', command, '--from', day, '--to', day, '--target', 'partner:7')
    expect((await on('2026-05-06')).stdout).toContain('partner_updated')
    expect((await on('2026-05-05')).stdout).not.toContain('partner_updated')
  })

  it.each(['list', 'export'])('finds what one request did on the command line too: %s', async (command) => {
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY }
    const { code, stdout, stderr } = await gatehouse(settings, 'audit', command, '--request-id', 'request-7')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('"n":7')
    expect(stdout).not.toContain('"n":8')
  })

  it('hides addresses from viewers', async () => {
    const { token } = await createOperator(world.deps, { name: 'watcher', role: 'viewer', days: 1 })
    const headers = { authorization: `Bearer ${token}` }
    const { data } = (await world.app.inject({ url: '/admin/v1/audit?action=app_', headers })).json()
    expect(new Set(data.events.map(({ address }: { address: string | null }) => address))).toEqual(new Set([null]))
    await world.pool.query("delete from audit_event where event like 'operator%'")
  })

  it('pages through all events, each once, even if many share a moment', async () => {
    const seen: string[] = []
    let next: string | null = ''
    for (let pages = 0; next !== null && pages < 20; pages++) {
      const page: { events: { id: string }[]; next: string | null } = await list(
        `?limit=4${next ? `&after=${next}` : ''}`,
      )
      seen.push(...page.events.map(({ id }) => id))
      next = page.next
    }
    expect(next).toBeNull()
    expect([seen.length, new Set(seen).size]).toEqual([25, 25])
  })

  it.each([
    ['?actor=lin', 5],
    ['?actor=operator', 25],
    ['?action=app_', 12],
    ['?action=app', 12],
    ['?action=a%25', 0],
    ['?action=ap_', 0],
    ['?target=partner:7', 13],
    ['?from=2026-05-06T10:40:00Z', 10],
    ['?to=2026-05-06T10:36:00Z', 3],
    ['?from=2026-05-07', 0],
    ['?actor=ma&action=partner&target=partner:7', 10],
  ])('is filtered: %s', async (query, count) => {
    expect((await list(query)).events).toHaveLength(count)
  })

  it.each(['?limit=0', '?limit=1001', '?after=x', '?from=yesterday', '?colour=red', '?actor='])(
    'refuses an invalid query: %s',
    async (query) => {
      const { statusCode, json } = await get(query)
      expect([statusCode, json().data.problems.length]).toEqual([400, 1])
    },
  )
})

describe('GET /admin/v1/audit/export', () => {
  it('has one JSON object per line', async () => {
    const { headers, body } = await get('/export?format=ndjson&actor=lin')
    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    const lines = body.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).detail.n).sort()).toEqual([0, 1, 2, 3, 4])
  })

  it('has no formulas in CSV cells', async () => {
    await recordAudit(world.deps, { event: 'app_updated', target: '=cmd()', actor: { kind: 'operator', name: 'csv' } })
    const { headers, body } = await get('/export?format=csv&actor=csv')
    expect(headers['content-type']).toBe('text/csv; charset=utf-8')
    const [head, line] = body.split('\r\n')
    expect(head).toBe(
      'id,at,actor_kind,actor_name,action,target,outcome,app_key,partner_id,cid,user_id,address,request_id,detail',
    )
    expect(line).toContain(",operator,csv,app_updated,'=cmd(),done,")
  })
})

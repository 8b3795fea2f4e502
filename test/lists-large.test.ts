import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routingKeyOf } from '../src/authorization/account/wire.ts'
import { ensureGrant } from '../src/authorization/oauth/consent-store.ts'
import { previewRevocation } from '../src/authorization/oauth/index.ts'
import { countErasable, exportUser } from '../src/authorization/people/person-data.ts'
import { totalsOfUser } from '../src/authorization/resource/index.ts'
import { exportAudit } from '../src/platform/audit/list.ts'
import { pagesTouched, rowsTouched, type SeenPlan, watchPlans } from './db/seen-plans.ts'
import { ADMIN_TOKEN, openWorld, type World } from './harness.ts'

/** Lists of large tables: a page reads about as many rows as it shows, whatever its position and filter. */

const USERS = 30_000
const GRANTS = 30_000
const EVENTS = 60_000
const ORDERS = 25_000
/** Of one person, in each of the tables that may have many. */
const OF_ONE = 10_000
const APPS = 20_000
const LIMIT = 100

let world: World
let plans: Awaited<ReturnType<typeof watchPlans>>
beforeAll(async () => {
  world = await openWorld({ ADMIN_TOKEN })
  await filled(`
    insert into user_profile (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at)
      select n * 1571 % 65536, 1, 'u' || n, 'Name ' || n, '0', 'https://a.example/a.png', '139' || lpad(n::text, 8, '0'),
        case when n % 100 = 0 then 'blocked' else 'active' end, '2026-05-01'::timestamptz + n * interval '1 second'
      from generate_series(1, ${USERS}) n;
    insert into user_credential (passport, password_hash, routing_key, cid, user_id)
      select 'passport-' || n, '', n * 1571 % 65536, 1, 'u' || n from generate_series(1, ${USERS}) n;
    insert into user_grant (routing_key, grant_id, cid, user_id, app_key, scopes, created_at)
      select n * 1571 % 65536, gen_random_uuid(), 1, 'u' || n, 'app-' || n % 3, '{USER_INFO}',
        '2026-05-01'::timestamptz + n * interval '1 second' from generate_series(1, ${GRANTS}) n;
    insert into audit_event (routing_key, at, event, actor, actor_name, target, request_id)
      select 0, '2026-05-01'::timestamptz + n * interval '1 second', case when n % 1000 = 0 then 'app_updated' else 'user_signed_in' end,
        case when n % 500 = 0 then 'cli' when n % 50 = 7 then 'operator' else 'user' end,
        case when n % 50 = 7 then 'operator-' || n % 100 end, 'app:' || n % 500, 'request-' || n from generate_series(1, ${EVENTS}) n;
    update user_profile set routing_key = ${routingKeyOf(1, 'u77')} where user_id = 'u77';
    update user_credential set routing_key = ${routingKeyOf(1, 'u77')} where user_id = 'u77';
    update user_grant set routing_key = ${routingKeyOf(1, 'u77')} where user_id = 'u77';
    analyze user_profile; analyze user_credential; analyze user_grant; analyze audit_event;
    insert into partner (partner_id, client_id, name, status, stage, created_at, updated_at)
      values (1, 'client-1', 'Seller', 'active', 'live', now(), now());
    insert into ticket_order (order_id, partner_id, partner_deal_id, sandbox, state, state_since, quantity, buy_price, unit_price,
        total_price, request, created_at, updated_at)
      select n, 1, 'deal', n % 1000 = 5, case when n = 7 then 'pay_unknown' else 'paid' end, now(), 1, 1, 1, 1, '{}',
        '2026-05-01'::timestamptz + n * interval '1 second', now() from generate_series(1, ${ORDERS}) n;
    insert into micro_app (app_key, name, status, hosts, scopes, refresh_days, refresh_policy, http_allowed, webhook_url, created_at,
        updated_at)
      values ('app-1', 'App', 'approved', '{app.example.com}', '{USER_INFO}', 30, 'fixed', false, 'https://app.example.com/hook', now(),
        now());
    insert into app_event (routing_key, event_id, app_key, type, state, created_at)
      select n, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'app-1', 'grant.revoked', 'failed', now() - n * interval '1 second'
      from generate_series(1, ${EVENTS}) n;
    insert into micro_app (app_key, name, status, hosts, scopes, refresh_days, refresh_policy, http_allowed, cors_origins, created_at,
        updated_at)
      select 'store-' || n, 'Store ' || n, case when n % 1000 = 0 then 'pending' else 'approved' end, '{app.example.com}', '{USER_INFO}',
        30, 'fixed', false, case when n % 1000 = 1 then array['https://page-' || n || '.example'] else '{}' end,
        '2026-05-01'::timestamptz + n * interval '1 second', now() from generate_series(1, ${APPS}) n;
    analyze ticket_order; analyze app_event; analyze micro_app;
    insert into sign_in (routing_key, cid, user_id, at, outcome)
      select ${routingKeyOf(1, 'u77')}, 1, 'u77', now() - n * interval '1 minute', 'succeeded' from generate_series(1, ${OF_ONE}) n;
    insert into data_access (routing_key, cid, user_id, hour, app_key, kind, reads, last_at)
      select ${routingKeyOf(1, 'u77')}, 1, 'u77', now() - n / 3 * interval '1 hour', 'app-' || n % 3, 'profile', 1, now()
      from generate_series(1, ${OF_ONE}) n;
    insert into browser_session (routing_key, session_hash, cid, user_id, created_at, expires_at)
      select ${routingKeyOf(1, 'u77')}, sha256(n::text::bytea), 1, 'u77', now(), now() from generate_series(1, ${OF_ONE}) n;
    insert into refused_request (routing_key, request_id, at, endpoint, method, status, rescode, parameters, proved, cid, user_id, app_key)
      select ${routingKeyOf(1, 'u77')}, gen_random_uuid(), now() - n * interval '1 minute', 'A4', 'GET', 200, 20009, '', true, 1, 'u77', 'app-1'
      from generate_series(1, ${OF_ONE}) n;
    update user_profile set routing_key = ${routingKeyOf(1, 'u78')} where user_id = 'u78';
    update user_credential set routing_key = ${routingKeyOf(1, 'u78')} where user_id = 'u78';
    insert into user_grant (routing_key, grant_id, cid, user_id, app_key, scopes, created_at)
      select ${routingKeyOf(1, 'u78')}, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, 'u78', 'app-1', '{USER_INFO}', now()
      from generate_series(1, ${OF_ONE / 20}) n;
    insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
      select ${routingKeyOf(1, 'u78')}, sha256(n::text::bytea), ('00000000-0000-4000-8000-' || lpad((1 + n % ${OF_ONE / 20})::text, 12, '0'))::uuid,
        '{USER_INFO}', '2100-01-01'
      from generate_series(1, ${OF_ONE}) n;
    insert into user_grant (routing_key, grant_id, cid, user_id, app_key, scopes, created_at, silent, sid)
      select ${routingKeyOf(1, 'u79')}, ('00000000-0000-4000-8001-' || lpad(n::text, 12, '0'))::uuid, 1, 'u79', 'app-1', '{USER_INFO}', now(),
        true, 'sid' from generate_series(1, ${OF_ONE / 5}) n;
    insert into authorization_code (routing_key, code_hash, grant_id, app_key, redirect_uri, state, expires_at, used_at)
      select ${routingKeyOf(1, 'u79')}, sha256(n::text::bytea), ('00000000-0000-4000-8001-' || lpad(n::text, 12, '0'))::uuid, 'app-1', '', '',
        now(), now() from generate_series(1, ${OF_ONE / 100}) n;
    analyze user_grant; analyze authorization_code; analyze access_token; analyze sign_in; analyze data_access; analyze browser_session; analyze refused_request`)
  plans = await watchPlans(world)
})
afterAll(async () => {
  plans?.stop()
  await world?.close()
})

/** Without the time limit of the pool's connections. */
async function filled(statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: world.databaseUrl })
  await client.connect()
  await client.query(statements).finally(() => client.end())
}

interface Answer {
  readonly body: string
  readonly rows: number
  readonly next: string | null
  readonly seen: readonly SeenPlan[]
}

async function ask(list: string, query: Readonly<Record<string, string>>): Promise<Answer> {
  let body = ''
  const seen = await plans.during(async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const url = `/admin/v1/${list}?${new URLSearchParams({ limit: String(LIMIT), ...query })}`
    const answer = await world.app.inject({ url, headers })
    expect(answer.statusCode, answer.body).toBe(200)
    body = answer.body
  })
  const { data } = JSON.parse(body)
  return { body, rows: (data[list] ?? data.events).length, next: data.next, seen }
}

const TABLE = /\b(?:user_profile|user_grant|audit_event|ticket_order|app_event|micro_app)\b/
/** Includes joined rows, such as the credential of a profile. */
const MAX_ROWS = 4 * (LIMIT + 1)
/** Of 8 KiB each: about one for each joined row, and the descent of each index. */
const MAX_PAGES = 10 * (LIMIT + 1)

function expectFewRows({ seen }: Answer): void {
  const reads = seen.filter(({ text }) => TABLE.test(text))
  expect(reads.length).toBeGreaterThan(0)
  for (const plan of reads) {
    expect(rowsTouched(plan), plan.text).toBeLessThanOrEqual(MAX_ROWS)
    expect(pagesTouched(plan), plan.text).toBeLessThanOrEqual(MAX_PAGES)
  }
}

describe.each([
  ['users', {}, LIMIT],
  ['users', { passport: 'passport-2' }, LIMIT],
  ['users', { name: 'Name 2999' }, 11],
  ['users', { phone_number: '139000123' }, LIMIT],
  ['users', { status: 'blocked' }, LIMIT],
  ['grants', { app_key: 'app-1' }, LIMIT],
  ['grants', { cid: '1', user_id: 'u77' }, 1],
  ['apps', {}, LIMIT],
  ['apps', { app_key: 'store-1999' }, 11],
  ['apps', { name: 'Store 1999' }, 11],
  ['apps', { status: 'pending' }, APPS / 1000],
  ['audit', {}, LIMIT],
  ['audit', { actor: 'operator-7' }, LIMIT],
  ['audit', { actor: 'cli' }, LIMIT],
  ['audit', { target: 'app:7' }, LIMIT],
  ['audit', { action: 'app_' }, EVENTS / 1000],
  ['audit', { request_id: 'request-59' }, 1],
  ['audit', { from: '2026-05-01', to: '2026-05-01' }, LIMIT],
  ['orders', { sandbox: 'true' }, ORDERS / 1000],
  ['orders', { partner_id: '1' }, LIMIT],
] as const)('%s %o', (list, query, rows) => {
  it('reads few rows for the first page and for later ones', async () => {
    const first = await ask(list, query)
    expect(first.rows).toBe(rows)
    expect(first.body.length).toBeLessThan(LIMIT * 1_000)
    expectFewRows(first)
    let last = first
    for (let pages = 0; pages < 3 && last.next !== null; pages++) {
      last = await ask(list, { ...query, after: last.next })
      expectFewRows(last)
    }
  })
})

it('orders in a rare state are searched some at a time, and found', async () => {
  let page = await ask('orders', { state: 'pay_unknown' })
  let pages = 1
  for (; page.next !== null; pages++) {
    expect(page.rows).toBe(0)
    page = await ask('orders', { state: 'pay_unknown', after: page.next })
    for (const plan of page.seen) expect(rowsTouched(plan), plan.text).toBeLessThanOrEqual(ORDERS / 2)
  }
  expect([pages > 1, page.rows]).toEqual([true, 1])
})

it('the audit log is searched some at a time where no index serves all filters', async () => {
  const query = { action: 'user_signed_in', target: 'app:7', actor: 'nobody' }
  const page = await ask('audit', query)
  expect([page.rows, page.next]).toEqual([0, null])
  expectFewRows(page)
  let last = await ask('audit', { action: 'user_', actor: 'nobody' })
  for (let pages = 1; pages < 4; pages++) {
    for (const plan of last.seen) expect(rowsTouched(plan), plan.text).toBeLessThanOrEqual(EVENTS / 3)
    last = await ask('audit', { action: 'user_', actor: 'nobody', after: last.next ?? '' })
    expect([last.rows, last.next === null]).toEqual([0, false])
  }
})

it('an event is found among all those of its app', async () => {
  const url = `/admin/v1/apps/app-1/events/00000000-0000-4000-8000-000000000777/retry`
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const seen = await plans.during(async () => {
    expect((await world.app.inject({ method: 'POST', url, headers })).statusCode).toBe(200)
  })
  const reads = seen.filter(({ text }) => /\bapp_event\b/.test(text))
  expect(reads.length).toBeGreaterThan(0)
  for (const plan of reads) expect(pagesTouched(plan), plan.text).toBeLessThanOrEqual(100)
})

it('the origins of apps are found without reading all apps', async () => {
  const headers = { origin: 'https://page-1.example', 'access-control-request-method': 'POST' }
  const seen = await plans.during(async () => {
    const { statusCode } = await world.app.inject({ method: 'OPTIONS', url: '/oauth2/token', headers })
    expect(statusCode).toBe(204)
  })
  const reads = seen.filter(({ text }) => text.includes('cors_origins'))
  expect(reads.length).toBeGreaterThan(0)
  for (const plan of reads) expect(rowsTouched(plan), plan.text).toBeLessThanOrEqual(APPS / 500)
})

it('a silent sign-in does not read all earlier ones of its session', async () => {
  const user = { routingKey: routingKeyOf(1, 'u79'), cid: 1, userId: 'u79' }
  const signIn = { auth_time: world.clock.now(), nonce: null, sid: 'sid', acr: null, amr: null }
  const grant = { ...user, grantId: randomUUID(), appKey: 'app-1', scopes: ['USER_INFO'], signIn }
  const now = world.clock.now()
  const seen = await plans.during(() => ensureGrant(world.deps.db, { ...grant, allowedAt: now }, now))
  const made = seen.filter(({ text }) => text.includes('into user_grant'))
  expect(made.length).toBe(1)
  for (const plan of made) expect(rowsTouched(plan), plan.text).toBeLessThanOrEqual(OF_ONE / 50)
})

it('a page has at most a thousand rows', async () => {
  for (const list of ['users', 'audit']) {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    expect((await world.app.inject({ url: `/admin/v1/${list}?limit=1001`, headers })).statusCode).toBe(400)
    const { body, rows } = await ask(list, { limit: '1000' })
    expect([rows, body.length < 1_000_000]).toEqual([1_000, true])
  }
})

it('an export of the audit log holds at most one page in memory', async () => {
  let [longest, all] = [0, 0]
  const lines = new Set<number>()
  for await (const part of exportAudit(world.deps, { format: 'ndjson', target: 'app:7' })) {
    longest = Math.max(longest, part.length)
    all += part.length
    lines.add(part.split('\n').length - 1)
  }
  expect(all).toBeGreaterThan(120 * 100)
  for await (const part of exportAudit(world.deps, { format: 'csv' })) {
    expect(part.split('\n').length).toBeLessThanOrEqual(501)
    longest = Math.max(longest, part.length)
  }
  expect(longest).toBeLessThan(500 * 1_000)
})

it("a person's export reads each row once, and holds at most one page in memory", async () => {
  let [longest, sessions] = [0, 0]
  const seen = await plans.during(async () => {
    for await (const part of await exportUser(world.deps, { cid: 1, user_id: 'u77', reason: 'asked for' })) {
      longest = Math.max(longest, part.length)
      sessions += part.split('"expires_at"').length - 1
    }
  })
  expect([sessions, longest < 500 * 1_000]).toEqual([OF_ONE, true])
  // Of the second two, the rows are not together.
  for (const [table, most] of [
    ['sign_in', 50],
    ['data_access', 50],
    ['browser_session', 550],
    ['refused_request', 550],
  ] as const) {
    const pages = seen.filter(({ text }) => text.includes(`from "${table}"`))
    expect(pages.length).toBe(OF_ONE / 500)
    for (const plan of pages) expect(pagesTouched(plan), plan.text).toBeLessThanOrEqual(most)
  }
})

it("a person's tokens are counted without reading them once for each grant", async () => {
  const person = { cid: 1, user_id: 'u78' }
  for (const count of [
    async () => (await countErasable(world.deps, person)).rows.access_tokens,
    async () => (await previewRevocation.ofUser(world.deps, person)).tokens,
  ]) {
    const seen = await plans.during(async () => expect(await count()).toBe(OF_ONE))
    const reads = seen.filter(({ text }) => /\baccess_token\b/.test(text))
    expect(reads.length).toBeGreaterThan(0)
    for (const plan of reads) expect(rowsTouched(plan), plan.text).toBeLessThanOrEqual(4 * OF_ONE)
  }
})

it('what apps have read of a person is added up before the apps are looked up', async () => {
  const person = { routingKey: routingKeyOf(1, 'u77'), cid: 1, userId: 'u77' }
  const seen = await plans.during(() => totalsOfUser(world.deps.db, person))
  const sums = seen.filter(({ text }) => /\bdata_access\b/.test(text))
  expect(sums.length).toBe(1)
  for (const plan of sums) expect(rowsTouched(plan), plan.text).toBeLessThanOrEqual(OF_ONE + 100)
})

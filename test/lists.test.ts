import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ALL_ACTIONS, isPaged } from '../src/operations/actions/index.ts'
import { type AskedPage, listPage, type Page } from '../src/platform/db/page.ts'
import { sql } from '../src/platform/db/sql.ts'
import { gatehouse } from './cli-runner.ts'
import { ADMIN_TOKEN, openWorld, SECRET_KEY, type World } from './harness.ts'

/** The paged lists of /admin/v1 (src/platform/db/page.ts): every row appears once, whatever is written meanwhile. */

let world: World
beforeAll(async () => {
  world = await openWorld({ ADMIN_TOKEN })
  await world.pool.query(`
    insert into user_profile (routing_key, cid, user_id, name, gender, big_avatar_url, phone_number, status, created_at)
      select n % 100, 1, 'u' || n, case when n % 10 = 0 then 'Zoë_' else 'Name ' end || n, '0', 'https://a.example/a.png',
        '139' || lpad(n::text, 8, '0'), case when n % 7 = 0 then 'blocked' else 'active' end,
        '2026-05-01T00:00:00.123456Z'::timestamptz + (n / 10) * interval '1 microsecond'
      from generate_series(1, 95) n;
    insert into user_credential (passport, password_hash, routing_key, cid, user_id)
      select case when n % 2 = 0 then 'even%' else 'Odd_' end || n, '', n % 100, 1, 'u' || n from generate_series(1, 95) n;
    insert into micro_app (app_key, name, status, hosts, redirect_uris, scopes, refresh_days, refresh_policy, http_allowed, created_at, updated_at)
      select 'app-' || n, 'App ' || n, case when n % 3 = 0 then 'pending' else 'approved' end, '{a.example}', '{}', '{USER_INFO}',
        30, 'fixed', true, '2026-05-01', '2026-05-01' from generate_series(1, 40) n;
    insert into user_grant (routing_key, grant_id, cid, user_id, app_key, scopes, created_at)
      select n % 100, gen_random_uuid(), 1, 'u' || n, 'app-1', '{USER_INFO}', '2026-05-01' from generate_series(1, 60) n;
    insert into partner (partner_id, client_id, name, status, stage, interface_urls, created_at, updated_at)
      select 9007199254740990 + n, 'client-' || n, 'Seller ' || n, 'active', 'live', '{}', '2026-05-01', '2026-05-01'
      from generate_series(1, 30) n;
    insert into ticket_order (order_id, partner_id, partner_deal_id, partner_order_id, state, state_since, quantity, buy_price, unit_price,
        total_price, request, created_at, updated_at)
      select 9007199254740990 + n, 9007199254740991, 'deal', 'P-' || n, 'paid', now(), 1, 1, 1, 1, '{}',
        '2026-05-01'::timestamptz + (n / 5) * interval '1 day', now() from generate_series(1, 50) n`)
})
afterAll(() => world?.close())

interface Answer {
  readonly status: number
  readonly body: string
}
const ask = async (path: string, query: Readonly<Record<string, string>>): Promise<Answer> => {
  const { statusCode: status, body } = await world.app.inject({
    url: `/admin/v1${path}?${new URLSearchParams(query)}`,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  return { status, body }
}

it('rejects cursors that no list has issued', async () => {
  for (const keys of [
    ['2026-01-01T00:00:00Z', '\0'],
    ['2026-99-01T00:00:00Z', 'a'],
    ['2026-02-30T00:00:00Z', 'a'],
    ['0000-01-01T00:00:00Z', 'a'],
  ]) {
    const after = Buffer.from(JSON.stringify(keys)).toString('base64url')
    expect((await ask('/apps', { after })).status, after).toBe(400)
  }
})

/** The ids of a list in order, read page by page; as text, because they exceed the range of a number. */
async function walk(
  path: string,
  query: Readonly<Record<string, string>>,
  id: string,
  between: (shown: readonly string[]) => Promise<unknown> = async () => {},
): Promise<string[]> {
  const ids: string[] = []
  for (let after: string | null = ''; after !== null; ) {
    const { status, body } = await ask(path, { ...query, ...(after ? { after } : {}) })
    expect(status, body).toBe(200)
    for (const [, found = ''] of body.matchAll(new RegExp(`"${id}":"?([^",}]+)`, 'g'))) ids.push(found)
    after = JSON.parse(body).data.next
    expect(ids.length).toBeLessThan(200)
    await between(ids)
  }
  return ids
}

const LISTS = {
  '/users': { id: 'user_id', most: 95, query: {} },
  '/apps': { id: 'app_key', most: 40, query: {} },
  '/grants': { id: 'grant_id', most: 60, query: { app_key: 'app-1' } },
  '/partners': { id: 'partner_id', most: 30, query: {} },
  '/orders': { id: 'order_id', most: 50, query: {} },
}

describe.each(Object.entries(LISTS))('%s', (path, { id, most, query }) => {
  it.each(['1', '7', '1000'])('shows every row once with limit=%s', async (limit) => {
    const ids = await walk(path, { ...query, limit }, id)
    expect(new Set(ids).size).toBe(most)
    expect(ids).toHaveLength(most)
    expect(ids).toEqual(await walk(path, { ...query, limit: '1000' }, id))
  })
})

const PAGED = ALL_ACTIONS.filter((action) => action.list && isPaged(action) && !action.route.includes(':'))

describe.each(PAGED.map(({ route }) => route.replace('GET ', '')))('%s', (path) => {
  it.each([
    ['after', 'x'],
    ['after', Buffer.from('[1]').toString('base64url')],
    ['after', Buffer.from('["2026-05-01T00:00:00Z","\'; drop table","x","y","z"]').toString('base64url')],
    ['after', 'A'.repeat(1_025)],
    ['limit', '0'],
    ['limit', '1001'],
    ['limit', 'many'],
    ['nonsense', 'x'],
  ])('rejects %s=%.20s and names the field', async (field, value) => {
    const { status, body } = await ask(path, { [field]: value })
    expect(status).toBe(400)
    expect(body).toContain(`"field":"${field}"`)
  })
})

it('neither repeats nor skips a row if others are inserted between pages', async () => {
  let n = 0
  const ids = await walk('/users', { limit: '10' }, 'user_id', async () => {
    n++
    await world.pool.query(
      `insert into user_profile select 1, 1, 'new-' || $1, name, gender, big_avatar_url, null, 'active', '2026-04-30'
       from user_profile where user_id = 'u1'`,
      [n],
    )
    await world.pool.query(`insert into user_credential select 'new-' || $1, '', 1, 1, 'new-' || $1`, [n])
  })
  await world.pool.query(`delete from user_credential where user_id like 'new-%'`)
  await world.pool.query(`delete from user_profile where user_id like 'new-%'`)
  expect(ids.filter((id) => id.startsWith('u'))).toHaveLength(95)
  expect(new Set(ids).size).toBe(ids.length)
})

it('neither repeats nor skips a row if others are deleted between pages, even the last that was shown', async () => {
  await world.pool.query(
    `insert into user_grant (routing_key, grant_id, cid, user_id, app_key, scopes, created_at)
     select n, gen_random_uuid(), 1, 'u' || n, 'app-2', '{USER_INFO}', '2026-05-01' from generate_series(1, 40) n`,
  )
  const stored = async () =>
    (await world.pool.query("select grant_id from user_grant where app_key = 'app-2'")).rows.map(
      ({ grant_id }) => grant_id,
    )
  const all = await stored()
  const query = { app_key: 'app-2', limit: '6' }
  const ids = await walk('/grants', query, 'grant_id', async (shown) => {
    const ahead = (await stored()).find((id) => !shown.includes(id))
    const gone = [shown.at(-1), shown.at(-6), ahead]
    await world.pool.query('delete from user_grant where grant_id = any($1::uuid[])', [gone])
  })
  const left = await stored()
  await world.pool.query("delete from user_grant where app_key = 'app-2'")
  expect(left.length).toBeLessThan(all.length - 6)
  expect(new Set(ids).size).toBe(ids.length)
  expect(left.filter((id) => !ids.includes(id))).toEqual([])
})

it('a search skips no row if others are deleted while it looks', async () => {
  await world.pool.query(`
    create table searched_row (n int8 primary key, is_hit boolean not null);
    insert into searched_row select n, n = 10003 from generate_series(1, 10100) n`)
  const { db } = world.deps
  const list: typeof db.listWithCustomPlan = async (...statement) => {
    const rows = await db.listWithCustomPlan(...statement)
    await world.pool.query('delete from searched_row where n <= 100')
    return rows
  }
  const listing = {
    row: z.object({ n: z.coerce.number() }),
    columns: sql.part`n, is_hit`,
    shown: sql.part`n`,
    from: sql.part`searched_row where true`,
    wanted: sql.part`is_hit`,
    keys: { n: 'int8' },
  }
  const found: object[] = []
  for (let after: string[] | undefined = []; after; ) {
    const page: AskedPage = { limit: 10, after: after.length > 0 ? after : undefined }
    const { rows, next }: Page<object> = await listPage({ ...db, listWithCustomPlan: list }, listing, page)
    found.push(...rows)
    after = next === null ? undefined : JSON.parse(Buffer.from(next, 'base64url').toString())
  }
  expect(found).toEqual([{ n: 10_003 }])
})

it.each([
  ['/apps', 'app_key'],
  ['/apps', 'name'],
  ['/users', 'passport'],
  ['/users', 'name'],
  ['/users', 'phone_number'],
  ['/grants', 'app_key'],
  ['/partners', 'name'],
  ['/partners', 'client_id'],
  ['/orders', 'partner_order_id'],
  ['/jobs', 'task'],
  ['/audit', 'actor'],
  ['/audit', 'target'],
  ['/audit', 'action'],
])('%s rejects NUL in %s', async (path, field) => {
  const { status, body } = await ask(path, { [field]: 'a\0b' })
  expect([status, body]).toEqual([400, expect.stringContaining(field)])
})

describe('filters', () => {
  it.each([
    ['/users', { passport: 'even%' }, 'user_id', 47],
    ['/users', { passport: 'Odd_1' }, 'user_id', 6],
    ['/users', { passport: '%' }, 'user_id', 0],
    ['/users', { name: 'ZOë_' }, 'user_id', 9],
    ['/users', { name: 'zo__' }, 'user_id', 0],
    ['/users', { phone_number: '13900000009' }, 'user_id', 1],
    ['/users', { status: 'blocked' }, 'user_id', 13],
    ['/apps', { status: 'pending', name: 'app 3' }, 'app_key', 5],
    ['/apps', { app_key: 'app-1' }, 'app_key', 11],
    ['/partners', { client_id: 'client-2' }, 'partner_id', 11],
    ['/partners', { stage: 'sandbox' }, 'partner_id', 0],
    ['/orders', { partner_order_id: 'P-4' }, 'order_id', 11],
    ['/orders', { from: '2026-05-02T00:00:00Z', to: '2026-05-03T00:00:00Z' }, 'order_id', 5],
    ['/orders', { from: '2026-05-02', to: '2026-05-03' }, 'order_id', 10],
    ['/orders', { state: 'paid', partner_id: '9007199254740992' }, 'order_id', 0],
    ['/grants', { cid: '1', user_id: 'u1' }, 'grant_id', 0],
  ] as const)('select the matching rows, whatever the page size: %s %o', async (path, query, id, most) => {
    const few = await walk(path, { ...query, limit: '2' }, id)
    expect(few).toHaveLength(most)
    expect(few).toEqual(await walk(path, { ...query, limit: '1000' }, id))
  })

  it.each([
    ['/users', { passport: 'a', name: 'b' }, 'name'],
    ['/grants', { app_key: 'a', cid: '1' }, 'cid'],
    ['/grants', {}, 'app_key'],
  ] as const)('are rejected if missing or in a forbidden combination: %s %o', async (path, query, named) => {
    const { status, body } = await ask(path, query)
    expect(status).toBe(400)
    expect(body).toContain(named)
  })
})

describe('a list of jobs', () => {
  it('shows every job once', async () => {
    await world.pool.query(
      `select graphile_worker.add_job('purge', '{}', run_at => now() + interval '1 day') from generate_series(1, 25)`,
    )
    const ids = await walk('/jobs', { limit: '4', task: 'purge' }, 'job_id')
    expect(ids).toHaveLength(25)
    expect(new Set(ids).size).toBe(25)
    expect(ids).toEqual(ids.toSorted((one, other) => Number(other) - Number(one)))
  })
})

describe('a list on the command line', () => {
  it('prints one page and the cursor of the next, or with --all every row as a line of JSON', async () => {
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY }
    const cli = (...args: string[]) => gatehouse(settings, ...args)
    const page = await cli('partner', 'list', '--limit', '29')
    expect(page.stdout.trim().split('\n')).toHaveLength(1 + 29 + 1)
    const after = /more: --after (\S+)\n$/.exec(page.stdout)?.[1] ?? ''
    const last = await cli('partner', 'list', '--limit', '29', '--after', after, '--json')
    expect(JSON.parse(last.stdout)).toMatchObject({ partners: [{ name: 'Seller 30' }], next: null })
    const all = await cli('partner', 'list', '--all', '--limit', '4')
    const lines = all.stdout.trim().split('\n')
    expect(lines).toHaveLength(30)
    expect(lines[29]).toContain('"partner_id":9007199254741020')
    expect(await cli('partner', 'list', '--after', 'x')).toMatchObject({
      code: 2,
      stderr: '--after  must be the `next` of a page of this list\n',
    })
  })
})

import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ACTIONS, isPaged } from '../../src/operations/actions/index.ts'
import { partsOf } from '../../src/platform/lib/action.ts'
import { gatehouse } from '../cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'
import { addressOf, type Filled, fill } from './filled.ts'
import { type Person, signedIn } from './person.ts'

/** Every list can be exported as a file, with the role, filters and masks of its page. */

let world: World
let filled: Filled
let viewer: Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  viewer = (await signedIn(world, 'viewer')).person
  await world.pool.query(
    `insert into ticket_order (order_id, partner_id, partner_deal_id, partner_order_id, sandbox, state, state_since, request,
       quantity, buy_price, unit_price, total_price, created_at, updated_at)
     select 9007199254740993 + n, $1, '=1+1', case n when 1 then '-5' else E'a "b",\\r\\nc' end, true, 'created', $2, '{}', 1, 1, 2, 4,
       $2::timestamptz - n * interval '1 s', $2 from generate_series(1, 2100) n`,
    [filled.partner_id, world.clock.now()],
  )
})
afterAll(() => world.close())

const rowsOf = (text: string) => parse(text, { bom: true, columns: true }) as Record<string, string>[]

it('CSV has every row once, exact ids, and no cell that a spreadsheet would evaluate', async () => {
  const { status, headers, text } = await viewer.get('/console/orders?export=csv&sandbox=true')
  expect(status).toBe(200)
  expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(headers['content-disposition']).toBe('attachment; filename="orders.csv"')
  expect(headers['cache-control']).toBe('no-store')
  const rows = rowsOf(text)
  expect([rows.length, new Set(rows.map(({ order_id }) => order_id)).size]).toEqual([2100, 2100])
  expect(rows[0]).toMatchObject({
    order_id: '9007199254740994',
    stage: 'sandbox',
    total_price: '4.00',
    partner_deal_id: "'=1+1",
    partner_order_id: '-5',
  })
  expect(rows[1]?.partner_order_id).toBe('a "b",\r\nc')
})

it('the link stands above the list, which is long on a phone', async () => {
  const { text } = await viewer.get('/console/orders?sandbox=true')
  expect(text.indexOf('export=csv')).toBeGreaterThan(0)
  expect(text.indexOf('export=csv')).toBeLessThan(text.indexOf('<table'))
})

it('NDJSON has the rows as the API returns them', async () => {
  const { headers, text } = await viewer.get('/console/orders?export=ndjson&sandbox=true')
  expect(headers['content-disposition']).toBe('attachment; filename="orders.ndjson"')
  const lines = text.trimEnd().split('\n')
  expect(lines).toHaveLength(2100)
  expect(lines[0]).toContain('"order_id":9007199254740994,')
  expect(lines[0]).toMatch(/"created_at":"\d{4}-\d\d-\d\dT/)
})

it('an invalid filter, an unknown format or a missing permission is rejected', async () => {
  expect((await viewer.get('/console/orders?export=csv&state=lost')).status).toBe(400)
  expect((await viewer.get('/console/orders?export=xls')).status).toBe(400)
  expect((await viewer.get('/console/grants?export=csv')).status).toBe(400)
  const events = `${addressOf('/apps/:app_key/events', filled)}?export=csv`
  expect((await viewer.get(events)).status).toBe(403)
  expect((await viewer.get('/console/apps?export=csv&nonsense=1')).status).toBe(400)
})

it('every paged list that has rows offers CSV', async () => {
  const support = (await signedIn(world, 'support')).person
  const lists = Object.values(ACTIONS)
    .flat()
    .filter((action) => action.list && isPaged(action))
  expect(lists.length).toBeGreaterThan(5)
  for (const { route } of lists) {
    const path = addressOf(partsOf(route).path, filled)
    const url = `${path}${path === '/console/grants' ? `?app_key=${filled.app_key}` : ''}`
    const { text } = await support.get(url)
    if (!text.includes('<table')) continue
    const [, href = ''] = /href="(\?[^"]*export=csv)"/.exec(text) ?? []
    const file = await support.get(url.split('?')[0] + href.replaceAll('&amp;', '&'))
    expect([file.status, rowsOf(file.text).length > 0], route).toEqual([200, true])
  }
})

it('the audit log can be exported only by support, like with audit export', async () => {
  const page = await viewer.get('/console/audit')
  expect([page.status, page.text.includes('export=csv')]).toEqual([200, false])
  const refused = await viewer.get('/console/audit?export=csv')
  expect(refused.status).toBe(403)
  expect(refused.text).toContain('Your role does not allow this')
  const support = (await signedIn(world, 'support')).person
  expect((await support.get('/console/audit?export=csv')).status).toBe(200)
})

it('the command line prints all pages as CSV too', async () => {
  const { code, stdout } = await gatehouse(
    { DATABASE_URL: world.databaseUrl, SECRET_KEY },
    'order',
    'list',
    '--sandbox',
    '--csv',
  )
  const rows = rowsOf(stdout)
  expect([code, rows.length]).toEqual([0, 2100])
  expect(rows[1]?.partner_order_id).toBe('a "b",\r\nc')
})

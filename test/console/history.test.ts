import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import { hourOf, keepHistory, writeHistory } from '../../src/operations/metrics/index.ts'
import { ActivityMeter } from '../../src/platform/lib/activity.ts'
import { addSeconds } from '../../src/platform/lib/clock.ts'
import { type App, Client } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { type Filled, fill } from './filled.ts'
import { type Person, signedIn } from './person.ts'

/** The history in the overview: 24 hours and 30 days, and the apps and partners that fail most. */

let world: World
let filled: Filled
let client: Client
let app: App
let viewer: Person
beforeAll(async () => {
  world = await openWorld()
  filled = await fill(world)
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({})
  viewer = (await signedIn(world, 'viewer')).person
})
afterAll(() => world.close())

const rows = async (kind: string) =>
  (
    await world.pool.query(
      `select hour, subject, total::int, refused::int, failed::int from activity_hour where kind = $1 order by hour, subject`,
      [kind],
    )
  ).rows

describe('the counts of a process', () => {
  it('are added to the row of their hour, by several processes', async () => {
    const other = new ActivityMeter()
    const { activity } = world.deps.metrics
    activity.take()
    for (const meter of [activity, other]) {
      meter.count('app', 'a', 'ok', 3)
      meter.count('app', 'a', 'refused')
      meter.count('call', '7', 'failed')
    }
    await writeHistory(world.deps)
    await writeHistory({ ...world.deps, metrics: { ...world.deps.metrics, activity: other } })
    const hour = hourOf(world.clock.now())
    expect(await rows('app')).toEqual([{ hour, subject: 'a', total: 8, refused: 2, failed: 0 }])
    expect(await rows('call')).toEqual([{ hour, subject: '7', total: 2, refused: 0, failed: 2 }])
    await world.pool.query('delete from activity_hour')
  })

  it('are kept while the database is unavailable, up to a limit', async () => {
    const activity = new ActivityMeter()
    for (let n = 0; n < 3_000; n++) activity.count('app', String(n), n % 2 === 0 ? 'ok' : 'refused')
    const broken = { ...world.deps.db, exec: () => Promise.reject(new Error('away')) }
    await writeHistory({ ...world.deps, db: broken, metrics: { ...world.deps.metrics, activity } })
    const taken = activity.take()
    expect(taken).toHaveLength(2_000)
    expect(taken[1]).toEqual({ kind: 'app', subject: '1', total: 1, refused: 1, failed: 0 })
  })

  it('include an app only for requests that it has authenticated itself', async () => {
    const end = keepHistory(world.deps)
    world.deps.metrics.activity.take()
    const refused = { code: 'none', state: 'none' }
    await client.exchange(app, refused)
    await client.exchange({ ...app, app_secret: 'wrong' }, refused)
    await viewer.get(`/console/apps/${app.app_key}`)
    await end()
    expect(await rows('app')).toMatchObject([{ subject: app.app_key, total: 1, refused: 1 }])
    expect(await rows('requests')).toMatchObject([{ subject: '', total: 3, refused: 2 }])
    await world.pool.query('delete from activity_hour')
  })
})

describe('the overview', () => {
  const add = (hours: number, kind: string, subject: string, total: number, refused: number, failed: number) =>
    world.pool.query(`insert into activity_hour values ($1, $2, $3, $4, $5, $6)`, [
      ...[hourOf(addSeconds(world.clock.now(), -hours * 3_600)), kind, subject, total, refused, failed],
    ])

  it('shows 24 hours and 30 days, and the worst apps and partners of that time first', async () => {
    await add(2, 'requests', '', 1_000, 40, 3)
    await add(30, 'requests', '', 500, 0, 0)
    await add(2, 'call', filled.partner_id, 100, 0, 30)
    await add(2, 'notice', filled.partner_id, 50, 5, 0)
    await add(30, 'call', filled.partner_id, 7, 0, 7)
    await add(2, 'app', app.app_key, 20, 10, 0)
    await add(3, 'app', filled.app_key, 900, 11, 0)
    await add(2, 'app', 'no-failures', 900, 0, 0)
    const day = (await viewer.get('/console?span=day')).text
    expect(day).toContain('Requests in the last 24 hours')
    expect(day).toContain('1,000 requests: 40 refused')
    expect(day).toContain('100 calls, 30 of them failed')
    expect(day).toMatch(
      new RegExp(
        `Partners[\\s\\S]*href="/console/partners/${filled.partner_id}"[\\s\\S]*>30<[\\s\\S]*>5<[\\s\\S]*>150<`,
      ),
    )
    expect(day).toMatch(new RegExp(`/console/apps/${filled.app_key}"[\\s\\S]*/console/apps/${app.app_key}"`))
    expect(day).not.toContain('no-failures')
    const month = (await viewer.get('/console?span=month')).text
    expect(month).toContain('1,500 requests')
    expect(month).toContain('107 calls, 37 of them failed')
    expect((await viewer.get('/console?span=nonsense')).text).toContain('Requests in the last hour')
  })

  it('loses rows older than 31 days in the purge', async () => {
    await add(32 * 24, 'app', 'old', 1, 1, 0)
    await purge(world.deps, {})
    expect((await rows('app')).map(({ subject }) => subject)).not.toContain('old')
    expect((await rows('app')).length).toBeGreaterThan(0)
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rowKeyOf } from '../../src/authorization/account/index.ts'
import { openAccessLedger } from '../../src/authorization/resource/access-ledger.ts'
import { readsByDay, totalsOfUser } from '../../src/authorization/resource/index.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, dataOf, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'
import { SHARDS } from '../one-table.ts'
import { until } from '../until.ts'

/** The ledger of which app has read whose profile or phone number, and when. */

const HOUR = 3_600
let world: World
let client: Client
let app: App
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp()
})
afterAll(() => world?.close())

interface Access {
  readonly app_key: string
  readonly kind: string
  readonly hour: string
  readonly reads: number
  readonly last_at: string
}
const accesses = async (user: User, query = ''): Promise<{ accesses: Access[]; next: string | null }> => {
  await world.app.accessLedger.flush()
  return (await client.admin('GET', `/users/${user.cid}/${user.user_id}/accesses${query}`)) as never
}
/** How many database connections were acquired during the work. */
const connectionsTaken = async (work: () => Promise<unknown>): Promise<number> => {
  let taken = 0
  const count = () => taken++
  world.pool.on('acquire', count)
  await work().finally(() => world.pool.off('acquire', count))
  return taken
}

describe('the access ledger', () => {
  it('counts reads by app, kind and hour, with the time of the last one', async () => {
    const user = await client.makeUser()
    const browser: Browser = await client.signedIn(user, app)
    const { access_token } = await client.getTokens(browser, app)
    for (let n = 0; n < 3; n++) dataOf(await client.userInfo(access_token))
    dataOf(await client.phone(access_token))
    const before = world.clock.now()
    world.clock.advance(HOUR)
    dataOf(await client.phone(access_token))
    const [now, hour] = [world.clock.now().toISOString(), (at: Date) => `${at.toISOString().slice(0, 13)}:00:00.000Z`]
    const { app_key } = app
    expect((await accesses(user)).accesses).toEqual([
      { app_key, kind: 'phone', hour: hour(world.clock.now()), reads: 1, last_at: now },
      { app_key, kind: 'profile', hour: hour(before), reads: 3, last_at: before.toISOString() },
      { app_key, kind: 'phone', hour: hour(before), reads: 1, last_at: before.toISOString() },
    ])
    dataOf(await client.phone(access_token))
    expect((await accesses(user)).accesses[0]).toMatchObject({ kind: 'phone', reads: 2 })
  })

  it('counts only data that was returned, at userinfo too', async () => {
    const user = await client.makeUser({ phone_number: null })
    const { access_token } = await client.getTokens(await client.signedIn(user, app), app)
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await client.call('GET', '/oauth2/userinfo', headers)).status).toBe(200)
    await client.phone(access_token) // there is no phone number
    await client.block(user)
    await client.userInfo(access_token)
    expect((await accesses(user)).accesses).toMatchObject([{ kind: 'profile', reads: 1 }])
  })

  it.skipIf(SHARDS > 1)('adds no statement to a request', async () => {
    const user = await client.makeUser()
    const { access_token } = await client.getTokens(await client.signedIn(user, app), app)
    await accesses(user)
    const taken: number[] = []
    for (let round = 0; round < 3; round++) {
      const reads = async () => {
        for (let n = 0; n < 5; n++) dataOf(await client.userInfo(access_token))
      }
      taken.push(await connectionsTaken(reads))
    }
    // Background work may take a connection in some rounds; a statement of the ledger would appear in all.
    expect(Math.min(...taken)).toBe(5)
  })

  it('sums more reads than fit into an int', async () => {
    const user = await client.makeUser()
    await world.pool.query(
      `insert into data_access
       select routing_key, cid, user_id, hour, 'busy-app', 'phone', 2000000000, hour
       from user_profile, generate_series('2026-05-01'::timestamptz, '2026-05-01 02:00', '1 hour') hour where user_id = $1`,
      [user.user_id],
    )
    const person = rowKeyOf(user)
    expect(await totalsOfUser(world.deps.db, person)).toMatchObject([{ reads: 6_000_000_000 }])
    const { days } = await readsByDay(world.deps.db, person, [new Date('2026-04-30'), new Date('2026-05-02')])
    expect(days).toMatchObject([{ reads: 6_000_000_000 }])
  })

  it('lists every row once, page by page, and audits each request', async () => {
    const user = await client.makeUser()
    await world.pool.query(
      `insert into data_access select routing_key, cid, user_id, '2026-05-01'::timestamptz + n / 6 * interval '1 hour',
         'app-' || n % 3, case when n % 6 < 3 then 'phone' else 'profile' end, n + 1, '2026-05-02'
       from user_profile, generate_series(0, 39) n where user_id = $1`,
      [user.user_id],
    )
    const found: number[] = []
    for (let after = ''; ; ) {
      const page = await accesses(user, `?limit=7${after}`)
      found.push(...page.accesses.map(({ reads }) => reads))
      if (page.next === null) break
      after = `&after=${page.next}`
    }
    expect(found.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
    const { rows } = await world.pool.query(
      "select count(*)::int as looks from audit_event where event = 'user_accesses_read' and user_id = $1",
      [user.user_id],
    )
    expect(rows).toEqual([{ looks: 6 }])
    const settings = { DATABASE_URL: world.databaseUrl, SECRET_KEY }
    const key = ['--cid', String(user.cid), '--user-id', user.user_id]
    const all = await gatehouse(settings, 'user', 'accesses', ...key, '--all')
    expect(all.stdout.trim().split('\n')).toHaveLength(40)
    const table = await gatehouse(settings, 'user', 'accesses', ...key, '--limit', '2')
    expect(table.stdout).toMatch(/^HOUR +APP_KEY +WHAT +READS +LAST\n2026-05-01T06:00:00.000Z +app-\d +p\w+ +\d+ +2026/)
    await expect(client.admin('GET', '/users/7/nobody/accesses')).rejects.toThrow('404')
    await expect(client.admin('GET', `/users/7/${user.user_id}/accesses?after=x`)).rejects.toThrow('400')
  })
})

describe('the buffer of the ledger', () => {
  const token = (user_id: string) => ({ cid: 7, user_id, app_key: 'app' })
  const rowsOf = async (user_id: string): Promise<number> =>
    (
      await world.pool.query('select coalesce(sum(reads), 0)::int as reads from data_access where user_id = $1', [
        user_id,
      ])
    ).rows[0].reads

  it('is bounded: excess reads are counted as left out, and it is flushed early when half full', async () => {
    const [{ user_id }, other] = [await client.makeUser(), await client.makeUser()]
    const { metrics } = world.deps
    const left = async () => (await metrics.accessesLeftOut.get()).values[0]?.value ?? 0
    const before = await left()
    const ledger = openAccessLedger(world.deps, world.app.sampledLog, { most: 4, batch: 2 })
    ledger.count(token(user_id), 'phone', 'profile')
    ledger.count(token(other.user_id), 'phone') // half full: flushed immediately
    for (const name of ['a', 'b', 'c']) ledger.count(token(name), 'phone')
    expect((await left()) - before).toBe(1)
    await expect.poll(() => rowsOf(user_id)).toBe(2)
    await ledger.flush()
    ledger.count(token('c'), 'phone')
    expect((await left()) - before).toBe(1)
    await ledger.flush()
  })

  it('keeps what could not be written for the next flush', async () => {
    const { user_id } = await client.makeUser()
    const ledger = openAccessLedger(world.deps, world.app.sampledLog, { everyMs: 20 })
    await world.pool.query('alter table data_access rename to away')
    ledger.count(token(user_id), 'phone')
    await ledger.flush()
    ledger.count(token(user_id), 'phone')
    await world.pool.query('alter table away rename to data_access')
    await expect.poll(() => rowsOf(user_id)).toBe(2)
  })

  // With shards data_access is a view of theirs, and renaming it stops no write.
  it.skipIf(SHARDS > 1)('that is half full waits a few seconds after a failed write', async () => {
    let failed = 0
    const log = { write: () => failed++, close: () => {} }
    const ledger = openAccessLedger(world.deps, log, { most: 4, everyMs: 3_600_000 })
    const { user_id } = await client.makeUser()
    await world.pool.query('alter table data_access rename to away')
    for (const name of [user_id, 'a', 'b', 'c']) {
      ledger.count(token(name), 'phone')
      await until(() => Promise.resolve(failed > 0 || name === user_id))
    }
    await ledger.flush()
    expect(failed, 'of the flush, and of the one when the ledger was half full').toBe(2)
    await world.pool.query('alter table away rename to data_access')
    world.clock.advance(5)
    ledger.count(token('d'), 'phone')
    await expect.poll(() => rowsOf(user_id)).toBe(1)
  })

  it('writes nothing about people who do not exist any more', async () => {
    const ledger = openAccessLedger(world.deps, world.app.sampledLog)
    ledger.count(token('nobody'), 'phone')
    await ledger.flush()
    expect(await rowsOf('nobody')).toBe(0)
  })

  it('is flushed when the service stops', async () => {
    const other = await openWorld()
    const known = new Client(injectWire(other.app), other.deps.config.PUBLIC_URL)
    const [user, one] = [await known.makeUser(), await known.makeApp()]
    const { access_token } = await known.getTokens(await known.signedIn(user, one), one)
    dataOf(await known.userInfo(access_token))
    await other.app.close()
    expect((await other.pool.query('select reads from data_access')).rows).toEqual([{ reads: 1 }])
    await other.close()
  })
})

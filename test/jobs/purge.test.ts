import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { explain } from '../../src/operations/explain/explain.ts'
import { purge, purgeTask, RETENTION } from '../../src/operations/jobs/purge.ts'
import { keepFingerprint } from '../../src/platform/db/installation.ts'
import { signInPartner } from '../../src/sandbox/portal/session.ts'
import { type App, Client, type Consented, dataOf, type TokenSet, tokenSetOf, type User } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { signInForm } from '../acceptance/form.ts'
import { injectWire } from '../acceptance/http.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { newSandboxPartner } from '../sandbox/partners.ts'
import { endedTokens } from './ended-tokens.ts'

/** The purge deletes expired rows without changing any response: an expired token is still reported as expired. */

const HOUR = 3_600
const DAY = 24 * HOUR

let world: World
let client: Client
let app: App
let user: User
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({ refresh_days: 30 })
  user = await client.makeUser()
})
afterAll(() => world?.close())

const TABLES = [
  'access_token',
  'refresh_token',
  'authorization_code',
  'used_code',
  'consent_decision',
  'user_grant',
  'browser_session',
]
beforeEach(() => world.pool.query(`truncate ${TABLES.join(', ')}`))

const rowsOf = async (table: string): Promise<number> =>
  (await world.pool.query(`select count(*)::int as rows from ${table}`)).rows[0].rows
const rows = async () =>
  Object.fromEntries(await Promise.all(TABLES.map(async (table) => [table, await rowsOf(table)])))
/** Ignores rejected requests: they are written a second later, so their number depends on timing. */
const purged = async () => {
  const { refused_request: _, ...deleted } = (await purge(world.deps, {})).deleted
  return deleted
}

interface Granted {
  readonly consented: Consented
  readonly tokens: TokenSet
}

async function granted(of: App = app): Promise<Granted> {
  const consented = await client.getCode(await client.signedIn(user, of), of)
  return { consented, tokens: tokenSetOf(await client.exchange(of, consented)) }
}

describe('the purge', () => {
  it('deletes nothing that is still valid', async () => {
    const { tokens } = await granted()
    expect(await purged()).toEqual({})
    dataOf(await client.userInfo(tokens.access_token))
    tokenSetOf(await client.refresh(app, tokens.refresh_token))
  })

  it('deletes an access token an hour after its expiry, and it is still reported as expired, not as invalid', async () => {
    const { tokens } = await granted()
    world.clock.advance(7 * DAY + HOUR)
    expect(await purged()).toEqual({ authorization_code: 1, consent_decision: 1, browser_session: 1 })
    world.clock.advance(1)
    expect(await purged()).toEqual({ access_token: 1 })
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20020 })
    expectFailure(await client.phone(tokens.access_token), { rescode: 20020 })
    tokenSetOf(await client.refresh(app, tokens.refresh_token))
  })

  it('deletes a refresh token an hour after its expiry, and it is still reported as expired', async () => {
    const { tokens } = await granted()
    world.clock.advance(30 * DAY + HOUR + 1)
    expect(await purged()).toMatchObject({ refresh_token: 1 })
    expect(await rowsOf('refresh_token')).toBe(0)
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20021 })
    const other = await client.makeApp()
    expectFailure(await client.refresh(other, tokens.refresh_token), { rescode: 20006 })
  })

  it('keeps rotated refresh tokens until they expire, as reusing one revokes the grant', async () => {
    const rotating = await client.makeApp({ refresh_policy: 'rotating', refresh_days: 30 })
    const { tokens } = await granted(rotating)
    world.clock.advance(29 * DAY)
    const next = tokenSetOf(await client.refresh(rotating, tokens.refresh_token))
    world.clock.advance(61)
    await purged()
    expectFailure(await client.refresh(rotating, tokens.refresh_token), { rescode: 20006 })
    expectFailure(await client.userInfo(next.access_token), { rescode: 20009 })
    world.clock.advance(DAY + HOUR)
    await purged()
    expect(await rowsOf('refresh_token')).toBe(0)
  })

  it('keeps a used code as long as one of its tokens may be valid, as reusing it revokes the grant', async () => {
    const patient = await client.makeApp({ refresh_days: 90 })
    const { consented, tokens } = await granted(patient)
    world.clock.advance(90 * DAY - 1)
    const last = tokenSetOf(await client.refresh(patient, tokens.refresh_token))
    world.clock.advance(7 * DAY - 1)
    await purged()
    dataOf(await client.userInfo(last.access_token))
    expectFailure(await client.exchange(patient, consented), { rescode: 20013 })
    expectFailure(await client.userInfo(last.access_token), { rescode: 20009 })
    world.clock.advance(2 * HOUR)
    await purged()
    expect(await rows()).toMatchObject({ used_code: 0, access_token: 0, refresh_token: 0, user_grant: 1 })
    expectFailure(await client.exchange(patient, consented), {
      rescode: 20013,
      message: `Invalid authorization code: ${consented.code}`,
    })
  })

  it('reduces a used code to its hash a day after its expiry; reuse by another app still revokes the grant', async () => {
    const other = await client.makeApp()
    const { consented, tokens } = await granted()
    world.clock.advance(DAY + 300)
    await purged()
    expect(await rows()).toMatchObject({ authorization_code: 1, used_code: 0 })
    world.clock.advance(1)
    expect(await purged()).toMatchObject({ authorization_code: 1 })
    expect(await rows()).toMatchObject({ authorization_code: 0, used_code: 1 })
    const { rows: kept } = await world.pool.query('select * from used_code')
    expect(Object.keys(kept[0])).toEqual(['routing_key', 'code_hash', 'grant_id', 'used_at', 'expires_at'])
    dataOf(await client.userInfo(tokens.access_token))
    const explained = await explain(world.deps, consented.code.slice(0, 17))
    expect(explained.token?.issued).toMatchObject([{ app_key: app.app_key, used_at: expect.any(Date) }])
    expectFailure(await client.exchange(other, consented), {
      rescode: 20013,
      message: `Invalid authorization code: ${consented.code}`,
    })
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20009 })
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20006 })
    const { rows: events } = await world.pool.query("select detail from audit_event where event = 'code_replayed'")
    expect(events.at(-1).detail).toMatchObject({ presented_by: other.app_key })
  })

  it('deletes an unused code completely', async () => {
    const consented = await client.getCode(await client.signedIn(user, app), app)
    world.clock.advance(DAY + 301)
    expect(await purged()).toMatchObject({ authorization_code: 1 })
    expect(await rows()).toMatchObject({ authorization_code: 0, used_code: 0 })
    expectFailure(await client.exchange(app, consented), {
      rescode: 20013,
      message: `Invalid authorization code: ${consented.code}`,
    })
  })

  it('keeps a grant, even a withdrawn one, longer than any setting lets its tokens live', async () => {
    await granted()
    await client.withdraw(user)
    world.clock.advance(455 * DAY + HOUR)
    await purged()
    expect(await client.grants(user)).toHaveLength(1)
    world.clock.advance(1)
    expect(await purged()).toEqual({ user_grant: 1 })
    expect(await rows()).toEqual(Object.fromEntries(TABLES.map((table) => [table, 0])))
    expect((await world.pool.query("select from audit_event where event = 'grant_withdrawn'")).rowCount).toBe(1)
  })

  it('deletes a session an hour after its expiry, and its browser still has to sign in', async () => {
    const browser = await client.signedIn(user, app)
    world.clock.advance(12 * HOUR + HOUR + 1)
    expect(await purged()).toEqual({ browser_session: 1 })
    expect(signInForm((await browser.open(client.authorizePath(client.request(app)))).text)).toBeDefined()
  })
})

/** Made anew for each request, and with an index of its own: sql.sameKey cannot use the primary key beside that. */
const UNIQUE = ['request_id']

it.each(RETENTION.map(({ table, column, key }) => [table, column, key] as const))(
  'expired rows of %s (by %s) are deleted by a key that tells them apart',
  async (table, _column, key) => {
    const { rows: found } = await world.pool.query(
      `select array_agg(attname::text order by array_position(conkey, attnum)) as key
       from pg_constraint join pg_attribute on attrelid = conrelid and attnum = any (conkey)
       where conrelid = (select min(oid) from pg_class where relname = $1 and relkind = 'r') and contype = 'p'`,
      [table],
    )
    expect(key).toEqual(table === 'refused_request' ? UNIQUE : found[0].key)
  },
)

it('the hourly purge removes jobs that failed for good over thirty days ago, and no others', async () => {
  const own = await openWorld() // whose clock is not ahead
  const { deps, log, pool } = own
  await pool.query(
    `select graphile_worker.add_job('send-person-mail', '{}', job_key => key, run_at => now() + interval '1 day')
     from unnest(array['old', 'recent', 'waiting']) as key`,
  )
  await pool.query(
    `select graphile_worker.permanently_fail_jobs(array_agg(id), 'no such mailbox')
     from graphile_worker.jobs where key in ('old', 'recent')`,
  )
  await pool.query(
    `update graphile_worker._private_jobs
     set updated_at = now() - case key when 'recent' then interval '29 days' else interval '31 days' end
     where key in ('old', 'recent', 'waiting')`,
  )
  await purgeTask(deps, {}, { id: '1', log, signal: AbortSignal.timeout(60_000) })
  const { rows } = await pool.query(
    `select key from graphile_worker.jobs where key in ('old', 'recent', 'waiting') order by key`,
  )
  expect(rows).toEqual([{ key: 'recent' }, { key: 'waiting' }])
  await own.close()
})

describe('the purge of the sandbox', () => {
  it("deletes a partner's session an hour after its expiry", async () => {
    const { deps, clock } = world
    const { client_id, client_secret } = await newSandboxPartner(world)
    await signInPartner(deps, { clientId: client_id, password: client_secret, address: '127.0.0.1' })
    clock.advance(12 * HOUR + HOUR)
    expect(await purged()).toEqual({})
    clock.advance(1)
    expect(await purged()).toEqual({ sandbox_session: 1 })
  })
})

const endedSessions = (count: number) =>
  world.pool.query(
    `insert into browser_session select 1, sha256(i::text::bytea), 1, 'x', now(), $1::timestamptz - interval '2 hours'
     from generate_series(1, $2) i`,
    [world.clock.now(), count],
  )

describe('a purge of many rows', () => {
  // In a new world, as rejected requests of the previous one are written a second later and may be expired too.
  beforeAll(async () => {
    await world.close()
    world = await openWorld()
  })

  it('alternates between tables and reports its progress', async () => {
    await endedTokens(world, 2_500)
    await endedSessions(1_500)
    const progress: Record<string, number>[] = []
    const onProgress = ({ deleted }: { deleted: Readonly<Record<string, number>> }) => progress.push({ ...deleted })
    const { deleted, total, finished } = await purge(world.deps, {}, { onProgress })
    expect(progress).toEqual([
      { access_token: 1_000 },
      { access_token: 1_000, browser_session: 1_000 },
      { access_token: 2_000, browser_session: 1_000 },
      { access_token: 2_000, browser_session: 1_500 },
      { access_token: 2_500, browser_session: 1_500 },
    ])
    expect({ deleted, total, finished }).toEqual({ deleted: progress.at(-1), total: 4_000, finished: true })
  })

  it('skips locked rows and deletes them the next time', async () => {
    await endedTokens(world, 10)
    const holder = await world.pool.connect()
    await holder.query('begin')
    await holder.query('select from access_token where token_hash = sha256($1) for update', ['3'])
    expect(await purged()).toEqual({ access_token: 9 })
    await holder.query('rollback')
    holder.release()
    expect(await purged()).toEqual({ access_token: 1 })
  })

  it('goes on with the other tables when one cannot be purged, and then reports why', async () => {
    await endedTokens(world, 10)
    await endedSessions(1_500)
    await world.pool.query(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$;
       create trigger refuse before delete on access_token for each row execute function refuse()`,
    )
    try {
      await expect(purge(world.deps, {})).rejects.toThrow('no')
      expect(await rowsOf('browser_session')).toBe(0)
    } finally {
      await world.pool.query('drop function refuse cascade')
    }
    expect(await purged()).toEqual({ access_token: 10 })
  })

  it('ends at its time limit or when aborted, and the next one continues', async () => {
    await endedTokens(world, 200_000)
    const first = await purge(world.deps, { seconds: 1 })
    expect(first.finished).toBe(false)
    await keepFingerprint(world.deps.db, world.deps.keys)
    const purgedAt = async () => (await world.pool.query('select purged_at from installation')).rows[0].purged_at
    const stop = new AbortController()
    const second = await purge(world.deps, {}, { signal: stop.signal, onProgress: () => stop.abort() })
    expect(second).toEqual({ deleted: { access_token: 1_000 }, total: 1_000, finished: false })
    await world.pool.query("delete from access_token where token_hash > '\\x08'")
    expect(await purgedAt()).not.toEqual(world.clock.now())
    expect((await purge(world.deps, {})).finished).toBe(true)
    expect(await purgedAt()).toEqual(world.clock.now())
    expect(await rowsOf('access_token')).toBe(0)
  })

  it('does not pause beyond its time limit after a slow batch', async () => {
    const slow = RETENTION.filter(({ table }) => table === 'access_token').map((rows) => ({
      ...rows,
      remove: async () => {
        await sleep(1_500)
        return { rows: 1, last: null }
      },
    }))
    const warnings: string[] = []
    const note = ({ name }: Error) => warnings.push(name)
    process.on('warning', note)
    const began = performance.now()
    expect(await purge(world.deps, { seconds: 1 }, {}, slow)).toMatchObject({ total: 1 })
    expect(performance.now() - began).toBeLessThan(5_000)
    process.off('warning', note)
    expect(warnings).not.toContain('TimeoutNegativeWarning') // of Node 22 and later
  })

  it('may run several times at once, and each row is deleted and counted once', async () => {
    await endedTokens(world, 20_000)
    const all = await Promise.all([1, 2, 3].map(() => purge(world.deps, {})))
    expect(all.reduce((sum, { total }) => sum + total, 0)).toBe(20_000)
  })
})

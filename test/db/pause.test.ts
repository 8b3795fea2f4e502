import { chmodSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { awaitDatabase } from '../../src/platform/db/await-database.ts'
import { BATCH_LIMITS, type Batched, type BatchedWork } from '../../src/platform/db/batch.ts'
import { openPool } from '../../src/platform/db/pool.ts'
import { type Db, dbOf, sql } from '../../src/platform/db/sql.ts'
import { DatabaseUnavailable } from '../../src/platform/lib/database-errors.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { Forwarder } from '../forwarder.ts'
import { type EmbeddedServer, startPostgres } from '../own-postgres.ts'
import { until } from '../until.ts'

/** Requests wait for a database that is briefly unavailable, and nothing is done twice: a real PostgreSQL restarts. */

const log = openLog({ level: 'silent', pretty: false })
const forwarder = new Forwarder()
let folder: string
let server: EmbeddedServer

const start = async () => {
  server = await startPostgres(folder)
  forwarder.target = Number(new URL(server.databaseUrl).port)
}
const stop = async () => {
  forwarder.target = null
  await server.stop()
}
/** Queries the server directly, bypassing the forwarder. */
async function query(text: string): Promise<pg.QueryResult['rows']> {
  const client = new pg.Client({ connectionString: server.databaseUrl })
  client.on('error', () => {})
  await client.connect()
  return client
    .query(text)
    .then(({ rows }) => rows)
    .finally(() => client.end())
}
const marks = async () => (await query('select name from mark order by name')).map(({ name }) => name)

function connect({ waitMs = 20_000, size = 4 } = {}): { db: Db; pool: pg.Pool } {
  const pool = openPool({ connectionString: forwarder.through(server.databaseUrl), size }, log)
  onTestFinished(() => pool.end())
  return { pool, db: dbOf(pool, { ...BATCH_LIMITS, waitMs }) }
}

const Name = z.object({ name: z.string() })
const mark = (db: Db, name: string) => db.exec(sql`insert into mark (name) values (${name})`)
const batched: Batched<string, { name: string }> = {
  key: (name) => name,
  duplicates: 'serialize',
  row: Name,
  statement: (names) => sql`with asked as (select * from unnest(${names}::text[]) with ordinality as a (name, ordinal)),
    made as (insert into mark (name) select name from asked returning name)
    select name, ordinal from made join asked using (name)`,
}
const inParts: BatchedWork<Db, string, number> = {
  key: (name) => name,
  duplicates: 'serialize',
  work: async (db, names) => {
    const [made] = await Promise.all([
      Promise.all(names.map((name) => mark(db, name))),
      db.exec(sql`insert into mark (name) select 'and so on'`),
    ])
    return made
  },
}
const pid = (db: Db) => db.one(z.object({ pid: z.number() }), sql`select pg_backend_pid() as pid`)
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error) => error,
  )

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-pause-'))
  chmodSync(folder, 0o755)
  await forwarder.open()
  await start()
  await query('create table mark (name text)')
})
beforeEach(() => query('truncate mark'))
afterAll(async () => {
  await server?.stop()
  forwarder.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('while PostgreSQL restarts', () => {
  it('requests wait and are then carried out once', async () => {
    const { db } = connect()
    await pid(db)
    await stop()
    const requests = [
      mark(db, 'alone'),
      db.tx((inside) => mark(inside, 'in a transaction')),
      db.batch(batched, 'in a batch'),
      db.batchWork(inParts, 'in parts'),
      db.many(Name, sql`select name from mark where false`),
      db.listWithCustomPlan(Name, sql`select name from mark where false`),
    ]
    await sleep(300)
    await start()
    await Promise.all(requests)
    expect(await marks()).toEqual(['alone', 'and so on', 'in a batch', 'in a transaction', 'in parts'])
  })

  it('requests wait no longer than allowed, and /readyz does not wait', async () => {
    const { db } = connect({ waitMs: 2_000 })
    await pid(db)
    await stop()
    const took = async (work: Promise<unknown>) => {
      const began = performance.now()
      expect(await failureOf(work)).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
      return performance.now() - began
    }
    expect(await took(mark(db, 'late'))).toBeGreaterThan(1_850)
    expect(await took(pid(db.reserved()))).toBeLessThan(1_850)
    await start()
    expect(await marks()).toEqual([])
  })

  it('a server that no longer lets this user in is an outage too, and is used again as soon as it does', async () => {
    await query("create role guest superuser login password 'first'")
    onTestFinished(async () => void (await query('drop role guest')))
    const url = new URL(server.databaseUrl)
    url.username = 'guest'
    url.password = 'first'
    const pool = openPool({ connectionString: forwarder.through(url.href), size: 4 }, log)
    onTestFinished(() => pool.end())
    const db = dbOf(pool)
    const refusals = [
      ["alter role guest password 'second'", "alter role guest password 'first'", '28P01'],
      ['alter role guest nologin', 'alter role guest login', '28000'],
    ] as const
    for (const [refuse, allow, code] of refusals) {
      await pid(db)
      await query(refuse)
      await query("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'guest'")
      await until(() => pool.totalCount === 0)
      const works = [mark(db, code), db.tx((inside) => mark(inside, code)), db.batch(batched, code), pid(db)]
      for (const failure of await Promise.all(works.map(failureOf))) {
        expect(failure).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false, cause: { code } })
      }
      await query(allow)
      await mark(db, `${code} again`)
    }
    expect(await marks()).toEqual(['28000 again', '28P01 again'])
  })

  it('a request that never gets a free connection is refused too', async () => {
    const { db, pool } = connect({ waitMs: 4_500, size: 1 })
    const held = await pool.connect()
    expect(await failureOf(mark(db, 'late'))).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
    held.release()
    expect(await mark(db, 'in time')).toBe(1)
  })

  it('no connection is attempted after the end of the pool', async () => {
    const pool = openPool({ connectionString: forwarder.through(server.databaseUrl), size: 4 }, log)
    await stop()
    const request = failureOf(pid(dbOf(pool, { ...BATCH_LIMITS, waitMs: 20_000 })))
    await pool.end()
    const began = performance.now()
    expect(await request).toBeInstanceOf(DatabaseUnavailable)
    expect(performance.now() - began).toBeLessThan(10_000)
    await start()
  })
})

describe('a connection lost in the middle of a statement', () => {
  const atWork = (statement: string) => `pg_stat_activity where state = 'active' and query like '${statement}%'`
  const terminate = (statement: string) =>
    until(async () => (await query(`select pg_terminate_backend(pid) from ${atWork(statement)}`)).length > 0)

  it('makes a read be sent again', async () => {
    const { db } = connect()
    const reading = db.one(Name, sql`select 'read' as name from pg_sleep(1)`)
    await terminate(`select ''read''`)
    expect(await reading).toEqual({ name: 'read' })
  })

  it('makes no write be sent again that may have been carried out', async () => {
    const { db } = connect()
    const writing = failureOf(db.exec(sql`insert into mark (name) select 'once' from pg_sleep(1)`))
    await until(async () => (await query(`select from ${atWork('insert into mark')}`)).length > 0)
    forwarder.cut()
    expect(await writing).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: true })
  })

  it('makes no transaction be repeated whose statements have begun', async () => {
    const { db } = connect()
    let times = 0
    const writing = failureOf(
      db.tx(async (inside) => {
        times++
        await inside.exec(sql`select from pg_sleep(20)`)
      }),
    )
    await terminate('select from pg_sleep(20)')
    expect(await writing).toBeInstanceOf(DatabaseUnavailable)
    expect(times).toBe(1)
  })
})

describe('a batch of several statements in one transaction', () => {
  const done = ['and so on', 'in parts']

  it('is repeated on another connection if the server of the first is read-only', async () => {
    const { db, pool } = connect({ size: 2 })
    for (const client of await Promise.all([pool.connect(), pool.connect()])) {
      await client.query('set session characteristics as transaction read only')
      client.release()
    }
    expect(await db.batchWork(inParts, 'in parts')).toBe(1)
    expect(await marks()).toEqual(done)
  })

  it('is repeated if columns of a prepared statement have changed', async () => {
    const { db } = connect({ size: 1 })
    const reading: BatchedWork<Db, string, unknown> = {
      ...inParts,
      work: async (inside, names) => {
        const read = inside.maybe(z.unknown(), { ...sql`select * from mark`, name: 'all of mark' })
        return Promise.all([read, ...names.map((name) => mark(inside, name))]).then(() => names)
      },
    }
    await db.batchWork(reading, 'in parts')
    await query('alter table mark add column more text')
    await db.batchWork(reading, 'in parts')
    await query('alter table mark drop column more')
    expect(await marks()).toEqual(['in parts', 'in parts'])
  })

  it('is repeated once if its connection is lost before the commit, but not if it is lost later', async () => {
    const { db } = connect()
    let times = 0
    const slow: BatchedWork<Db, string, number> = {
      ...inParts,
      work: async (inside, names) => {
        if (times++ === 0) await Promise.all([mark(inside, 'lost'), inside.exec(sql`select from pg_sleep(2)`)])
        return inParts.work(inside, names)
      },
    }
    const writing = db.batchWork(slow, 'in parts')
    await until(
      async () => (await query(`select from pg_stat_activity where query like 'select from pg_sleep(2)%'`)).length > 0,
    )
    forwarder.cut()
    expect(await writing).toBe(1)
    expect([times, await marks()]).toEqual([2, done])

    await query(`create function wait() returns trigger language plpgsql as 'begin perform pg_sleep(1); return null; end';
      create constraint trigger wait after insert on mark deferrable initially deferred for each row execute function wait()`)
    times = 1
    const committing = failureOf(db.batchWork(slow, 'later'))
    await until(
      async () => (await query(`select from pg_stat_activity where query = 'commit' and state = 'active'`)).length > 0,
    )
    forwarder.cut()
    expect(await committing).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: true })
    expect(times).toBe(2)
    await query('drop trigger wait on mark; drop function wait')
  })
})

describe('a read-only server', () => {
  it('refuses a write, which another connection then carries out once', async () => {
    const { db, pool } = connect({ size: 1 })
    const { pid: before } = await pid(db)
    await pool.query('set session characteristics as transaction read only')
    await mark(db, 'alone')
    expect(await marks()).toEqual(['alone'])
    expect(await pid(db)).not.toEqual({ pid: before })
  })

  it('is not read from while it is a standby, and requests wait until it is promoted', async () => {
    await stop()
    const cluster = realpathSync(join(folder, 'postgres'))
    writeFileSync(join(cluster, 'standby.signal'), '')
    const started = startPostgres(folder) // resolves once it accepts writes
    const file = join(cluster, 'postmaster.pid')
    forwarder.target = await until(() => existsSync(file) && Number(readFileSync(file, 'utf8').split('\n')[3]))
    const url = forwarder.through(server.databaseUrl)
    const client = await until(async () => {
      const one = new pg.Client(url)
      one.on('error', () => {})
      return one.connect().then(
        () => one,
        () => undefined,
      )
    })
    expect(await failureOf(pid(connect().db.reserved()))).toMatchObject({
      name: 'DatabaseUnavailable',
      cause: { code: '25006' },
    })
    const requests = [
      mark(connect().db, 'after the promotion'),
      pid(connect().db),
      awaitDatabase(url, { seconds: 60, log }),
    ]
    await sleep(300)
    await client.query('select pg_promote()')
    await client.end()
    server = await started
    await Promise.all(requests)
    expect(await marks()).toEqual(['after the promotion'])
  })
})

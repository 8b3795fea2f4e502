import { type AddressInfo, createServer, connect as dial } from 'node:net'
import pg, { type Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Batched } from '../../src/platform/db/batch.ts'
import { openPool } from '../../src/platform/db/pool.ts'
import { type Db, dbOf, sql } from '../../src/platform/db/sql.ts'
import type { DatabaseUnavailable } from '../../src/platform/lib/database-errors.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { freshDatabase } from '../harness.ts'

/** How slow statements, lost connections and a read-only database are handled. */

let database: { url: string; drop(): Promise<void> }
let other: pg.Client
const pools: Pool[] = []
const log = openLog({ level: 'silent', pretty: false })
const connect = (url = database.url): { pool: Pool; db: Db } => {
  const pool = openPool({ connectionString: url, size: 1 }, log)
  pools.push(pool)
  return { pool, db: dbOf(pool) }
}

beforeEach(async () => {
  database = await freshDatabase()
  other = new pg.Client({ connectionString: database.url })
  other.on('error', () => {})
  await other.connect()
  await other.query('create table mark (name text)')
})
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()))
  await other.end()
  await database.drop()
})

const mark = (db: Db, name: string) => db.exec(sql`insert into mark (name) values (${name})`)
const marks = async () => (await other.query('select name from mark order by name')).rows.map(({ name }) => name)
const failureOf = (work: Promise<unknown>): Promise<DatabaseUnavailable> =>
  work.then(
    () => Promise.reject(new Error('it should have failed')),
    (error) => error,
  )
const pid = (db: Db) => db.one(z.object({ pid: z.number() }), sql`select pg_backend_pid() as pid`)

it('a statement that waits for a lock is cancelled by PostgreSQL before the client gives up', async () => {
  const { db } = connect()
  const before = await pid(db)
  await other.query('begin; lock table mark')
  const failures = await Promise.all([
    failureOf(mark(connect().db, 'alone')),
    failureOf(db.tx((inside) => mark(inside, 'in a transaction'))),
  ])
  for (const failure of failures) {
    expect(failure).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
    expect(failure.message).toContain('lock')
  }
  await other.query('commit')
  expect(await pid(db), 'the connection is used again').toEqual(before)
  expect(await marks()).toEqual([])
})

it('a statement that takes too long is cancelled, unless it was allowed more time', async () => {
  const { db } = connect(`${database.url}?options=-c%20statement_timeout%3D1000`)
  const failure = await failureOf(db.exec(sql`select pg_sleep(4)`))
  expect(failure).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
  expect(failure.message).toContain('took longer')
  expect(await db.slowTx(5, (inside) => inside.exec(sql`select pg_sleep(1.5)`))).toBe(1)
})

it.for(['transaction_timeout', 'idle_in_transaction_session_timeout'])(
  'a session ended by %s is an outage',
  async (limit, { skip }) => {
    const known = await connect(database.url).db.exec(sql`select from pg_settings where name = ${limit}`)
    skip(known === 0, 'PostgreSQL 17 is the first to know it')
    const { db } = connect(`${database.url}?options=-c%20${limit}%3D1000`)
    const failure = await failureOf(
      db.tx(async (inside) => {
        await pid(inside)
        await new Promise((resolve) => setTimeout(resolve, limit.startsWith('idle') ? 1_500 : 0))
        await inside.exec(sql`select pg_sleep(2)`)
      }),
    )
    expect(failure).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false, keepsConnection: false })
    expect(await db.tx(pid)).toHaveProperty('pid')
  },
)

it('limits apply even if startup options cannot be used', async () => {
  const pool = openPool({ connectionString: database.url, size: 1, startupOptions: false }, log)
  pools.push(pool)
  const { rows } = await pool.query(
    "select current_setting('statement_timeout') as s, current_setting('lock_timeout') as l",
  )
  expect(rows).toEqual([{ s: '8s', l: '3s' }])
})

it('a read-only database is an outage, and its connection is closed', async () => {
  const { db } = connect(`${database.url}?options=-c%20default_transaction_read_only%3Don`)
  const before = await pid(db)
  for (const work of [mark(db, 'alone'), db.tx((inside) => mark(inside, 'in a transaction'))]) {
    const failure = await failureOf(work)
    expect(failure).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
    expect(failure.message).toContain('accepts no writes')
  }
  expect(await pid(db)).not.toEqual(before)
})

/** A proxy which, once cut, hangs up instead of passing on answers of the database. */
async function cutBetween(url: string) {
  let cut = false
  const server = createServer((incoming) => {
    const outgoing = dial(Number(new URL(url).port), new URL(url).hostname)
    incoming.on('error', () => {}).pipe(outgoing)
    outgoing
      .on('error', () => {})
      .on('data', (data) => {
        if (cut) incoming.destroy()
        else incoming.write(data)
      })
    incoming.on('close', () => outgoing.end())
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const through = new URL(url)
  through.port = String((server.address() as AddressInfo).port)
  return {
    url: through.href,
    cutNow: () => {
      cut = true
    },
    close: () => server.close(),
  }
}

it('if the answer to a write is lost, the failure says that its outcome is unknown', async () => {
  const line = await cutBetween(database.url)
  try {
    const { db } = connect(line.url)
    await mark(db, 'before')
    line.cutNow()
    const failure = await failureOf(mark(db, 'lost'))
    expect(failure).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: true })
    expect(failure.message).toContain('it is unknown whether this was carried out')
    await expect.poll(marks).toEqual(['before', 'lost'])
  } finally {
    line.close()
  }
})

it('if a read or an uncommitted transaction is lost, the outcome is known', async () => {
  const [one, two] = [await cutBetween(database.url), await cutBetween(database.url)]
  try {
    const reading = connect(one.url).db
    await pid(reading)
    one.cutNow()
    expect(await failureOf(pid(reading))).toMatchObject({ outcomeUnknown: false })
    const writing = connect(two.url).db
    const failure = failureOf(
      writing.tx(async (inside) => {
        await pid(inside)
        two.cutNow()
        await mark(inside, 'rolled back')
      }),
    )
    expect(await failure).toMatchObject({ outcomeUnknown: false })
    expect(await marks()).toEqual([])
  } finally {
    one.close()
    two.close()
  }
})

it('a changed column type makes no prepared statement fail outside of a transaction', async () => {
  const { db, pool } = connect()
  const read = (through: Db) => through.many(z.object({ name: z.string() }), sql`select name from mark`)
  await mark(db, 'a')
  await read(db)
  await other.query('alter table mark alter column name type varchar(40)')
  expect(await read(db)).toEqual([{ name: 'a' }])
  await read(db) // on the connection that replaced that one
  await other.query('alter table mark alter column name type text')
  const failure = await failureOf(
    db.tx(async (inside) => {
      await read(inside)
    }),
  )
  expect(failure).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false, keepsConnection: false })
  expect(await db.tx(read)).toEqual([{ name: 'a' }])
  expect(pool.totalCount).toBe(1)
})

describe('the error of a transaction with several statements in flight', () => {
  const echo: Batched<string, { name: string }> = {
    key: (name) => name,
    duplicates: 'serialize',
    row: z.object({ name: z.string() }),
    statement: (names) => sql`insert into mark (name)
      select name from unnest(${names}::text[]) asked (name) returning name, 1 as ordinal`,
  }
  const readMarks = (db: Db) => db.many(z.object({ name: z.string() }), sql`select name from mark order by 1`)
  /** Later statements fail with 25P02, or 26000 if never prepared, and these errors may arrive first. */
  const alongside: [how: string, work: (inside: Db) => Promise<unknown>][] = [
    ['a statement of a batch', (inside) => Promise.all([inside.batch(echo, 'a'), readMarks(inside)])],
    [
      'a statement that is awaited later',
      async (inside) => {
        const slow = mark(inside, 'a').then(() => readMarks(inside))
        await Promise.all([readMarks(inside), slow])
      },
    ],
    ['statements with the same name', (inside) => Promise.all([1, 2, 3].map(() => inside.batch(echo, 'a')))],
    [
      'a statement whose failure is ignored',
      async (inside) => {
        await Promise.allSettled([mark(inside, 'a')])
        await readMarks(inside)
      },
    ],
    [
      'a statement whose failure is ignored, with no other after it',
      (inside) => Promise.allSettled([mark(inside, 'a')]),
    ],
  ]

  it.each(alongside)('%s: is the lock timeout', async (_how, work) => {
    const { db } = connect(`${database.url}?options=-c%20lock_timeout%3D100`)
    await other.query('begin; lock table mark in exclusive mode')
    const failure = await failureOf(db.tx(work))
    expect(failure).toMatchObject({ name: 'DatabaseUnavailable', outcomeUnknown: false })
    expect(failure.message).toContain('another transaction held a lock')
    await other.query('commit')
    await db.tx(work)
  })

  it.each(alongside)('%s: is that of a read-only database', async (_how, work) => {
    const { db } = connect(`${database.url}?options=-c%20default_transaction_read_only%3Don`)
    const failure = await failureOf(db.tx(work))
    expect(failure).toMatchObject({ name: 'DatabaseUnavailable', keepsConnection: false })
    expect(failure.message).toContain('accepts no writes')
  })

  it('is the original error, after which the connection is used again', async () => {
    const { db } = connect()
    const before = await pid(db)
    await other.query('alter table mark add unique (name)')
    await mark(db, 'a')
    for (const [, work] of alongside) expect(await failureOf(db.tx(work))).toMatchObject({ code: '23505' })
    expect(await pid(db)).toEqual(before)
  })

  it('is also that of statements sent after its end, which are not carried out', async () => {
    const { db } = connect()
    let late: Promise<unknown> = Promise.resolve()
    const failure = failureOf(
      db.tx(async (inside) => {
        late = failureOf(pid(inside).then(() => mark(inside, 'late')))
        throw new Error('ours')
      }),
    )
    expect(await failure).toMatchObject({ message: 'ours' })
    expect(await late).toMatchObject({ message: 'ours' })
    let outside: Db | undefined
    await db.tx(async (inside) => {
      outside = inside
      await mark(inside, 'in time')
    })
    await expect(mark(outside as Db, 'late')).rejects.toThrow('has ended')
    expect(await marks()).toEqual(['in time'])
  })
})

import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BATCH_LIMITS, type Batched, type BatchedWork, type BatchLimits } from '../../src/platform/db/batch.ts'
import { openPool } from '../../src/platform/db/pool.ts'
import { type Db, dbOf, sql } from '../../src/platform/db/sql.ts'
import { Overloaded } from '../../src/platform/lib/concurrency-limit.ts'
import { DatabaseUnavailable } from '../../src/platform/lib/database-errors.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { freshDatabase } from '../harness.ts'

/** Requests that share a statement, on a real PostgreSQL. The transaction id tells which rows one statement wrote. */

const log = openLog({ level: 'silent', pretty: false })
let database: Awaited<ReturnType<typeof freshDatabase>>
let admin: pg.Client
const pools: pg.Pool[] = []

const dbWith = (limits: Partial<BatchLimits>, url = database.url): Db => {
  const pool = openPool({ connectionString: url, size: 4 }, log)
  pools.push(pool)
  return dbOf(pool, { ...BATCH_LIMITS, ...limits })
}

beforeAll(async () => {
  database = await freshDatabase()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  await admin.query('create table note (written serial primary key, name text not null, divisor int not null)')
})
afterEach(() => admin.query('truncate note restart identity'))
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()))
  await admin?.end()
  await database?.drop()
})

interface Note {
  readonly name: string
  /** 0 makes the whole statement fail. */
  readonly divisor: number
  /** How long the statement takes. */
  readonly seconds?: number
}

const Written = z.object({ name: z.string(), transaction: z.string() })
type Written = z.output<typeof Written>

const statement = (notes: readonly Note[]) =>
  sql`with written as (
        insert into note (name, divisor)
        select name, 1 / divisor from unnest(${notes.map((note) => note.name)}::text[],
          ${notes.map((note) => note.divisor)}::int[], ${notes.map((note) => note.seconds ?? 0)}::float8[])
          with ordinality as note (name, divisor, seconds, ordinal), pg_sleep(seconds)
        order by ordinal
        returning name
      )
      select ordinal, written.name, pg_current_xact_id()::text as transaction
      from written join unnest(${notes.map((note) => note.name)}::text[]) with ordinality as asked (name, ordinal)
        on asked.name = written.name`

const serialized: Batched<Note, Written> = { row: Written, key: ({ name }) => name, duplicates: 'serialize', statement }
const shared: Batched<Note, Written> = { ...serialized, duplicates: 'share' }

/** Blocks all writes until the returned function is called. */
async function hold(): Promise<() => Promise<unknown>> {
  await admin.query('begin; lock table note in share mode')
  return () => admin.query('commit')
}

const write = (db: Db, name: string, divisor = 1): Promise<Written[]> => db.batch(serialized, { name, divisor })
const transactionsOf = (answers: readonly Written[][]): Set<string | undefined> =>
  new Set(answers.map(([written]) => written?.transaction))
const names = async (): Promise<string[]> =>
  (await admin.query('select name from note order by written')).rows.map(({ name }) => String(name))

describe('values of rows', () => {
  const kinds = z.object({
    text: z.string().nullable(),
    bytes: z.instanceof(Buffer).nullable(),
    id: z.coerce.bigint().nullable(),
    count: z.number().nullable(),
    flag: z.boolean().nullable(),
    at: z.date().nullable(),
    json: z.unknown(),
  })
  type Kinds = z.output<typeof kinds>
  const columns = (row: Kinds) => sql.part`
    ${row.text}::text as text, ${row.bytes}::bytea as bytes, ${row.id}::bigint as id, ${row.count}::int as count,
    ${row.flag}::boolean as flag, ${row.at}::timestamptz as at, ${row.json}::jsonb as json`
  const none: Kinds = { text: null, bytes: null, id: null, count: null, flag: null, at: null, json: null }
  const texts = [
    '',
    'NULL',
    '{}',
    'a, b',
    '"',
    '\\',
    '\\"',
    '\\n',
    '\n\t\u0001\u007f',
    '{"a":"\\n"}',
    '张三 🎫',
    '\u2028',
    '\\x41',
  ]

  let db: Db
  beforeAll(() => {
    db = dbWith({})
  })
  const given: Kinds[] = [
    none,
    ...texts.map((text): Kinds => ({ ...none, text, json: { text } })),
    { ...none, json: ['a', { b: null }] },
    ...[122, 123, 122].map((ms): Kinds => ({ ...none, at: new Date(Date.UTC(2026, 10, 27, 22, 0, 0, ms)) })),
    {
      text: 'all',
      bytes: Buffer.from([0, 34, 92, 110, 255]),
      id: 2n ** 63n - 1n,
      count: -1,
      flag: false,
      at: new Date('2026-11-27T22:00:00.123Z'),
      json: { list: [1, null] },
    },
  ]
  const readBack = async (rows: Kinds[]) =>
    db.many(
      kinds,
      sql`select text, bytes, id, count, flag, at, json from ${sql.rows('given', rows, columns)} order by ordinal`,
    )

  it('are read as they were given, alone and together', async () => {
    for (const row of given) {
      expect(await readBack([row])).toEqual([row])
      expect(await readBack([row, row])).toEqual([row, row])
    }
  })

  it('keep their order, even if some cannot be sent in arrays but only as JSON', async () => {
    expect(await readBack(given)).toEqual(given)
    const plain = given.filter(({ text }) => !/[\n\t\\"]/.test(text ?? ''))
    expect(await readBack(plain)).toEqual(plain)
  })

  it('may be bytes in any kind of Uint8Array', async () => {
    const bytes = new Uint8Array([9, 0, 34, 92]).subarray(1) as Buffer
    const row = { ...none, bytes: Buffer.from(bytes) }
    expect(await readBack([{ ...none, bytes }, none])).toEqual([row, none])
  })

  it('with an invalid date are refused by the database, so that a batch can retry one by one', async () => {
    const invalid = { ...none, at: new Date(Number.NaN) }
    await expect(readBack([invalid])).rejects.toMatchObject({ code: '22007' })
    await expect(readBack([invalid, none])).rejects.toMatchObject({ code: '22007' })
  })
})

describe('requests at the same moment', () => {
  it('share a statement, and each gets its own rows', async () => {
    const db = dbWith({ items: 200, batches: 2 })
    const requested = Array.from({ length: 50 }, (_, index) => `note ${index}`)
    const answers = await Promise.all(requested.map((name) => write(db, name)))
    expect(answers.map((rows) => rows.map(({ name }) => name))).toEqual(requested.map((name) => [name]))
    expect(transactionsOf(answers).size).toBe(1)
  })

  it('are limited in number per statement', async () => {
    const db = dbWith({ items: 10, batches: 2 })
    const answers = await Promise.all(Array.from({ length: 45 }, (_, index) => write(db, `note ${index}`)))
    expect(transactionsOf(answers).size).toBe(5)
    expect(await names()).toHaveLength(45)
  })

  it('are collected while enough batches are running', async () => {
    const db = dbWith({ items: 200, batches: 1 })
    const letGo = await hold()
    const slow = write(db, 'slow')
    const later: Promise<Written[]>[] = []
    for (let index = 0; index < 5; index++) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      later.push(write(db, `later ${index}`))
    }
    await letGo()
    expect(transactionsOf(await Promise.all(later)).size).toBe(1)
    expect(transactionsOf(await Promise.all([...later, slow])).size).toBe(2)
  })

  it('are sorted by key, so that all processes lock rows in the same order', async () => {
    const db = dbWith({ items: 200, batches: 2 })
    await Promise.all(['c', 'a', 'd', 'b'].map((name) => write(db, name)))
    expect(await names()).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('items with the same key', () => {
  it('share one answer if they read', async () => {
    const db = dbWith({ items: 200, batches: 2 })
    const answers = await Promise.all([1, 2, 3].map(() => db.batch(shared, { name: 'one', divisor: 1 })))
    expect(transactionsOf(answers).size).toBe(1)
    expect(await names()).toEqual(['one'])
  })

  it('are all counted per statement, even those that share an answer', async () => {
    const counted: [kind: string, requests: number][] = []
    const db = dbWith({ onBatch: (kind, requests) => void counted.push([kind, requests]) })
    await Promise.all(['one', 'one', 'other'].map((name) => db.batch(shared, { name, divisor: 1 })))
    await Promise.all(['one', 'two'].map((name) => write(db, name)))
    expect(counted).toEqual([
      ['read', 3],
      ['write', 2],
    ])
  })

  it('share no answer across statements: the next one sees what has changed', async () => {
    const db = dbWith({ items: 200, batches: 2 })
    const [first] = await db.batch(shared, { name: 'one', divisor: 1 })
    const [second] = await db.batch(shared, { name: 'one', divisor: 1 })
    expect(first?.transaction).not.toBe(second?.transaction)
  })

  it('are never in one statement if they write', async () => {
    const db = dbWith({ items: 200, batches: 2 })
    const answers = await Promise.all(['same', 'other', 'same', 'same'].map((name) => write(db, name)))
    expect(transactionsOf(answers).size).toBe(3)
    expect(answers[0]?.[0]?.transaction).toBe(answers[1]?.[0]?.transaction)
    expect((await names()).sort()).toEqual(['other', 'same', 'same', 'same'])
  })
})

describe('a queue', () => {
  const slow = (db: Db, seconds: number) => db.batch(serialized, { name: 'slow', divisor: 1, seconds })

  it('has a maximum length, beyond which requests are refused at once', async () => {
    const db = dbWith({ items: 1, batches: 1, length: 2 })
    const letGo = await hold()
    const first = write(db, 'slow')
    await new Promise((resolve) => setTimeout(resolve, 50))
    const waiting = [write(db, 'a'), write(db, 'b')]
    await expect(write(db, 'c')).rejects.toThrow(Overloaded)
    await letGo()
    await Promise.all([first, ...waiting])
    expect(await names()).toEqual(['slow', 'a', 'b'])
  })

  it('has a deadline, after which requests are refused and not carried out', async () => {
    const db = dbWith({ items: 1, batches: 1, waitMs: 300 })
    const first = slow(db, 2)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const refused = expect(write(db, 'late')).rejects.toThrow(Overloaded)
    expect(await Promise.race([refused.then(() => 'refused'), first.then(() => 'the first was done')])).toBe('refused')
    await first
    await write(db, 'next')
    expect(await names()).toEqual(['slow', 'next'])
  })

  it('refuses running reads at the deadline, but lets running writes finish', async () => {
    const db = dbWith({ items: 1, batches: 1, waitMs: 300 })
    await expect(db.batch(shared, { name: 'read', divisor: 1, seconds: 1 })).rejects.toThrow(Overloaded)
    await expect(slow(dbWith({ items: 1, batches: 1, waitMs: 300 }), 1)).resolves.toHaveLength(1)
  })
})

describe('shares of the connections', () => {
  it('are limited, so that each area keeps its own', async () => {
    const db = dbWith({ waitMs: 1_500 }) // four connections: one for /readyz, one for notices, one for tokens, one for reads
    const Nothing = z.object({})
    const hold = (from: Db, seconds: number) => from.one(Nothing, sql`select from pg_sleep(${seconds}::float8)`)
    const notices = Array.from({ length: 5 }, () => hold(db.withShareOf('notices'), 4).catch((error: unknown) => error))
    const tokens = Array.from({ length: 5 }, () => hold(db.withShareOf('oauth'), 4).catch((error: unknown) => error))
    await Promise.all([hold(db.withShareOf('resource'), 0), hold(db.reserved(), 0)])
    for (const outcomes of [await Promise.all(notices), await Promise.all(tokens)]) {
      expect(outcomes.filter((outcome) => outcome instanceof Overloaded)).toHaveLength(4)
    }
  })
})

describe('a statement that fails', () => {
  it('fails only the requests that cause it, and every other one is written exactly once', async () => {
    const db = dbWith({ items: 200, batches: 2 })
    const bad = new Set([3, 17, 18])
    const writes = Array.from({ length: 30 }, (_, index) => write(db, `note ${index}`, bad.has(index) ? 0 : 1))
    const outcomes = await Promise.allSettled(writes)
    outcomes.forEach((outcome, index) => {
      if (!bad.has(index)) expect(outcome).toMatchObject({ status: 'fulfilled', value: [{ name: `note ${index}` }] })
      else expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
    })
    expect((await names()).sort()).toEqual(
      outcomes.flatMap((_, index) => (bad.has(index) ? [] : [`note ${index}`])).sort(),
    )
  })

  it('because of an unexpected row fails only the request of that row', async () => {
    const strict: Batched<Note, Written> = { ...serialized, row: Written.extend({ name: z.string().max(3) }) }
    const db = dbWith({ items: 200, batches: 2 })
    const [short, long] = await Promise.allSettled(
      ['abc', 'abcd'].map((name) => db.batch(strict, { name, divisor: 1 })),
    )
    expect(short).toMatchObject({ status: 'fulfilled', value: [{ name: 'abc' }] })
    expect(long).toMatchObject({ status: 'rejected', reason: { name: 'ZodError' } })
  })
})

describe('within a transaction', () => {
  it('a request runs at once inside it, and is rolled back with it', async () => {
    const db = dbWith({ items: 200, batches: 2 })
    const seen = await db
      .tx(async (tx) => {
        const answers = await Promise.all(['one', 'two'].map((name) => write(tx, name)))
        expect(transactionsOf(answers).size).toBe(1)
        const counted = await tx.one(z.object({ count: z.number() }), sql`select count(*)::int as count from note`)
        throw new Error(`saw ${counted.count}`)
      })
      .catch((error: Error) => error.message)
    expect(seen).toBe('saw 2')
    expect(await names()).toEqual([])
  })
})

/** A proxy between pool and server, which can drop an answer of the server and hang up. */
class Listener {
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  deaf = false

  constructor(target: URL) {
    this.#server = createServer((incoming) => {
      const outgoing = dial(Number(target.port), target.hostname)
      for (const socket of [incoming, outgoing]) {
        this.#sockets.add(socket)
        socket.on('error', () => {})
      }
      incoming.pipe(outgoing)
      outgoing.on('data', (chunk) => {
        if (!this.deaf) incoming.write(chunk)
        // The answer to a Sync ends with ReadyForQuery: the server has committed.
        else for (const socket of this.#sockets) socket.destroy()
      })
    })
  }

  async open(url: string): Promise<string> {
    await new Promise<void>((ready) => this.#server.listen(0, '127.0.0.1', ready))
    const through = new URL(url)
    through.port = String((this.#server.address() as AddressInfo).port)
    return through.href
  }

  close(): void {
    this.#server.close()
  }
}

describe('batched work in a shared transaction', () => {
  const by = { divisor: 1, seconds: 0 }
  /** Writes in two statements. Names that begin with `alone` must have their own transaction. */
  const work: BatchedWork<Db, { name: string; divisor: number }, { transaction: string; together: number }> = {
    key: ({ name }) => name,
    duplicates: 'serialize',
    work: async (tx, items) => {
      const here = items.filter(({ name }) => items.length === 1 || !name.startsWith('alone'))
      const [first, second] = await Promise.all([
        tx.many(Written, statement(here.map((item) => ({ ...by, name: `${item.name} 1` })))),
        tx.many(Written, statement(here.map((item) => ({ ...by, ...item })))),
      ])
      expect(new Set([...first, ...second].map(({ transaction }) => transaction)).size).toBe(1)
      const transaction = first[0]?.transaction ?? ''
      return items.map((item) => (here.includes(item) ? { transaction, together: here.length } : undefined))
    },
  }
  const does = (db: Db, name: string, divisor = 1) => db.batchWork(work, { name, divisor })

  it('is done together, except for items that need their own transaction', async () => {
    const db = dbWith({ items: 200, batches: 1 })
    const done = await Promise.all(['a', 'alone', 'b', 'b'].map((name) => does(db, name)))
    expect(done.map(({ together }) => together)).toEqual([2, 1, 2, 1])
    expect(new Set(done.map(({ transaction }) => transaction)).size).toBe(3)
    expect((await names()).sort()).toEqual(['a', 'a 1', 'alone', 'alone 1', 'b', 'b', 'b 1', 'b 1'])
  })

  it('that fails for one item leaves nothing of that one, and everything of the others', async () => {
    const db = dbWith({ items: 200, batches: 1 })
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => does(db, name, name === 'b' ? 0 : 1)))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect((await names()).sort()).toEqual(['a', 'a 1', 'c', 'c 1'])
  })

  it('inside a transaction is part of it', async () => {
    const db = dbWith({ items: 200, batches: 1 })
    const undone = db.tx(async (tx) => {
      expect(await does(tx, 'a')).toMatchObject({ together: 1 })
      throw new Error('no')
    })
    await expect(undone).rejects.toThrow('no')
    expect(await names()).toEqual([])
  })
})

describe('losing the database in the middle of a batch', () => {
  it('before the commit fails every request of the batch, and nothing is written or retried', async () => {
    const db = dbWith({ items: 200, batches: 1 })
    const writes = ['a', 'b', 'c'].map((name) => db.batch(serialized, { name, divisor: 1, seconds: 20 }))
    const outcomes = Promise.allSettled(writes)
    await expect
      .poll(
        async () =>
          (
            await admin.query(
              `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event = 'PgSleep'`,
            )
          ).rowCount,
      )
      .toBe(1)
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailable) })
    }
    expect(await names()).toEqual([])
    // and the next request is served again
    expect(await write(db, 'after')).toMatchObject([{ name: 'after' }])
    expect(await names()).toEqual(['after'])
  })

  it('between the commit and its answer reports no success, and writes nothing twice', async () => {
    const listener = new Listener(new URL(database.url))
    const db = dbWith({ items: 200, batches: 1 }, await listener.open(database.url))
    await write(db, 'before') // connects, and prepares the statement
    listener.deaf = true
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((name) => write(db, name)))
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailable) })
    }
    expect(await names()).toEqual(['before', 'a', 'b', 'c'])
    listener.close()
  })
})

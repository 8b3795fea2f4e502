import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { BATCH_LIMITS, type Batched, type BatchedWork } from '../../src/platform/db/batch.ts'
import { statesOfShards } from '../../src/platform/db/installation.ts'
import { openDatabase } from '../../src/platform/db/open-database.ts'
import { type Db, sql } from '../../src/platform/db/sql.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { databaseOn } from '../citus.ts'
import { Forwarder } from '../forwarder.ts'
import { freshDatabase } from '../harness.ts'

/** A shard whose node is asked directly: here one server is all nodes, and the name of the connection says which way it took. */

const log = openLog({ level: 'silent', pretty: false })
const SCHEMAS = ['shard_0_of_2', 'shard_1_of_2']
const forwarder = new Forwarder()
let database: Awaited<ReturnType<typeof freshDatabase>>
let admin: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  forwarder.target = Number(new URL(database.url).port)
  await forwarder.open()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  for (const schema of SCHEMAS) await admin.query(`create schema ${schema} create table user_profile ()`)
})
afterAll(async () => {
  forwarder.close()
  await admin?.end()
  await database?.drop()
})

const named = (url: string): string => {
  const direct = new URL(url)
  direct.searchParams.set('application_name', 'direct')
  return direct.href
}

/** Only the first of two shards is asked directly. */
function open(node: string, size = 4) {
  const limits = { ...BATCH_LIMITS, waitMs: 20_000 }
  const nodes = { shard_0_of_2: named(node) }
  const opened = openDatabase({ connectionString: database.url, size }, log, { shards: 2, limits, nodes })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= opened.close()
    return closed
  }
  onTestFinished(close)
  return { ...opened, close }
}

const Way = z.object({ way: z.string(), schema: z.string() })
const ASKED = sql.part`current_setting('application_name') as way, current_schema()::text as schema`
const asks: Batched<number, z.output<typeof Way>> = {
  key: String,
  duplicates: 'share',
  row: Way,
  statement: (items) =>
    sql`select ordinal, ${ASKED} from ${sql.rows('asked', items, (id) => sql.part`${id}::int as id`)}`,
}
const works: BatchedWork<Db, number, z.output<typeof Way>> = {
  key: String,
  duplicates: 'serialize',
  work: async (tx, items) => {
    const found = await tx.one(Way, sql`select ${ASKED}`)
    return items.map(() => found)
  },
}
const LAST_KEY = 65_535
const waysOf = async (db: Db, key = 0) => {
  const shard = db.withShareOf('oauth').of(key)
  const found = await Promise.all([
    shard.batch(asks, 1).then(([row]) => row),
    shard.batchWork(works, 1),
    shard.one(Way, sql`select ${ASKED}`),
    shard.tx((tx) => tx.batch(asks, 1)).then(([row]) => row),
  ])
  for (const row of found) expect(row?.schema).toBe(SCHEMAS[key === 0 ? 0 : 1])
  return found.map((row) => row?.way)
}
const away = async (db: Db) =>
  (await statesOfShards(db.reserved())).filter(({ pending }) => pending === undefined).map(({ schema }) => schema)

const DIRECT = ['direct', 'direct', 'gatehouse', 'gatehouse']
const AROUND = ['gatehouse', 'gatehouse', 'gatehouse', 'gatehouse']

it('gets its batches directly, all else and other shards by way of the coordinator', async () => {
  const { db, close, connections } = open(forwarder.through(database.url))
  expect(await waysOf(db)).toEqual(DIRECT)
  expect(await waysOf(db, LAST_KEY)).toEqual(AROUND)
  expect(await away(db)).toEqual([])
  const sessions = async () =>
    (
      await admin.query(
        `select from pg_stat_activity where application_name = 'direct' and datname = current_database()`,
      )
    ).rowCount
  expect(await sessions()).toBeGreaterThan(0)
  expect(connections().total).toBeGreaterThan(1)
  await close()
  await expect.poll(sessions).toBe(0)
})

it('is asked by way of the coordinator while its node cannot be reached, and directly again afterwards', async () => {
  const { db } = open(forwarder.through(database.url))
  expect(await waysOf(db)).toEqual(DIRECT)
  const { target } = forwarder
  forwarder.target = null
  forwarder.cut()
  const began = performance.now()
  expect(await waysOf(db)).toEqual(AROUND)
  expect(performance.now() - began).toBeLessThan(3_000)
  expect(await away(db)).toEqual([])
  forwarder.target = target
  await expect.poll(() => waysOf(db), { timeout: 30_000, interval: 200 }).toEqual(DIRECT)
})

it('is served when its node was never reached, also over one connection', async () => {
  const { target } = forwarder
  forwarder.target = null
  const { db } = open(forwarder.through(database.url), 1)
  try {
    expect(await waysOf(db)).toEqual(AROUND)
  } finally {
    forwarder.target = target
  }
})

it('is away where only one of the two ways leads to its rows', async () => {
  expect(await away(open(databaseOn(database.url, 'postgres')).db)).toEqual(['shard_0_of_2'])
})

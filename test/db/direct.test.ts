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

/** A shard whose node is queried directly. One server plays all nodes; the name of a connection tells its route. */

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

/** Only the first of two shards is queried directly. */
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

const Route = z.object({ way: z.string(), schema: z.string() })
const ASKED = sql.part`current_setting('application_name') as way, current_schema()::text as schema`
const query: Batched<number, z.output<typeof Route>> = {
  key: String,
  duplicates: 'share',
  row: Route,
  statement: (items) =>
    sql`select ordinal, ${ASKED} from ${sql.rows('asked', items, (id) => sql.part`${id}::int as id`)}`,
}
const workItems: BatchedWork<Db, number, z.output<typeof Route>> = {
  key: String,
  duplicates: 'serialize',
  work: async (tx, items) => {
    const found = await tx.one(Route, sql`select ${ASKED}`)
    return items.map(() => found)
  },
}
const LAST_KEY = 65_535
const routesOf = async (db: Db, key = 0) => {
  const shard = db.withShareOf('oauth').of(key)
  const found = await Promise.all([
    shard.batch(query, 1).then(([row]) => row),
    shard.batchWork(workItems, 1),
    shard.one(Route, sql`select ${ASKED}`),
    shard.tx((tx) => tx.batch(query, 1)).then(([row]) => row),
  ])
  for (const row of found) expect(row?.schema).toBe(SCHEMAS[key === 0 ? 0 : 1])
  return found.map((row) => row?.way)
}
const away = async (db: Db) =>
  (await statesOfShards(db.reserved())).filter(({ pending }) => pending === undefined).map(({ schema }) => schema)

const DIRECT = ['direct', 'direct', 'gatehouse', 'gatehouse']
const BY_COORDINATOR = ['gatehouse', 'gatehouse', 'gatehouse', 'gatehouse']

it('gets its batches directly; everything else goes through the coordinator', async () => {
  const { db, close, connections } = open(forwarder.through(database.url))
  expect(await routesOf(db)).toEqual(DIRECT)
  expect(await routesOf(db, LAST_KEY)).toEqual(BY_COORDINATOR)
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

it('is queried through the coordinator while its node cannot be reached, and then directly again', async () => {
  const { db } = open(forwarder.through(database.url))
  expect(await routesOf(db)).toEqual(DIRECT)
  const { target } = forwarder
  forwarder.target = null
  forwarder.cut()
  const began = performance.now()
  expect(await routesOf(db)).toEqual(BY_COORDINATOR)
  expect(performance.now() - began).toBeLessThan(3_000)
  expect(await away(db)).toEqual([])
  forwarder.target = target
  await expect.poll(() => routesOf(db), { timeout: 30_000, interval: 200 }).toEqual(DIRECT)
})

it('is served even if its node was never reached, also with a single connection', async () => {
  const { target } = forwarder
  forwarder.target = null
  const { db } = open(forwarder.through(database.url), 1)
  try {
    expect(await routesOf(db)).toEqual(BY_COORDINATOR)
  } finally {
    forwarder.target = target
  }
})

it('is unavailable if only one of the two routes leads to its rows', async () => {
  expect(await away(open(databaseOn(database.url, 'postgres')).db)).toEqual(['shard_0_of_2'])
})

import { afterAll, beforeAll, expect, it } from 'vitest'
import { purge, RETENTION } from '../../src/operations/jobs/purge.ts'
import { believeEmpty, growDatabase, LARGE, stopStatistics } from '../db/million.ts'
import { rowsTouched, watchPlans } from '../db/seen-plans.ts'
import { openWorld, type World } from '../harness.ts'
import { SHARDS } from '../one-table.ts'

/**
 * The plans of the purge. Its tables are emptied and grow again between two analyses, so PostgreSQL may believe a table
 * empty that has millions of rows. With a plan made for that, one batch compared each row of the table with each key.
 */

const ROWS = 3_000
const DECADE_S = 10 * 365 * 24 * 3_600
/** A batch of 1,000 finds its rows and deletes them, and up to three more for each. */
const MOST_ROWS = 5_000

/** Dates and routing keys that many rows share. */
const MORE = [
  `update data_access set hour = date_trunc('year', hour)`,
  `insert into sign_in (routing_key, cid, user_id, at, outcome)
   select n, 1, 'u', '2026-01-01', 'failed' from generate_series(1, ${ROWS}) n`,
  `insert into app_usage (app_key, day, kind, code, times)
   select 'app-' || n, '2026-01-01', 'read', 0, 1 from generate_series(1, ${ROWS}) n`,
  `insert into refused_request (routing_key, request_id, at, endpoint, method, status, rescode, parameters, proved)
   select 0, md5(n::text)::uuid, '2026-01-01'::date + n * interval '1 s', 'A5', 'GET', 200, 1, '', false
   from generate_series(1, ${ROWS}) n`,
]

let world: World
let plans: Awaited<ReturnType<typeof watchPlans>>
/** The plans are those of one table; each shard has the same. */
const onOneTable = it.skipIf(SHARDS > 1)

beforeAll(async () => {
  if (SHARDS > 1) return
  world = await openWorld({ ORDER_PERSONAL_DATA_DAYS: '30', CALL_KEPT_DAYS: '30' })
  const { databaseUrl, pool, clock } = world
  await stopStatistics(databaseUrl)
  await growDatabase(databaseUrl, clock.now(), { users: ROWS, orders: 2 * ROWS, parties: 100 })
  await pool.query('update authorization_code set used_at = expires_at')
  await pool.query(
    `update ticket_order set state = 'consumed', state_since = created_at,
       delete_after = case when order_id % 2 = 0 then created_at + interval '1 day' end`,
  )
  for (const rows of MORE) await pool.query(rows)
  await believeEmpty(databaseUrl, [...LARGE, 'sign_in', 'app_usage', 'refused_request'])
  plans = await watchPlans(world)
  clock.advance(DECADE_S)
})
afterAll(async () => {
  plans?.stop()
  await world?.close()
})

onOneTable('looks each row up by its key, even in tables that PostgreSQL believes empty', async () => {
  const deleted: string[] = []
  const seen = await plans.during(async () => {
    deleted.push(...Object.keys((await purge(world.deps, {})).deleted))
  })
  expect(deleted.sort()).toEqual([
    'access_token',
    'app_usage',
    'authorization_code',
    'browser_session',
    'data_access',
    'notice',
    'partner_call',
    'refresh_token',
    'refused_request',
    'sign_in',
    'ticket_order',
    'used_code',
    'user_grant',
    'visitors of orders',
  ])
  const costly = seen.filter((plan) => rowsTouched(plan) > MOST_ROWS)
  expect(costly.map((plan) => `${rowsTouched(plan)} rows: ${plan.text}`)).toEqual([])
})

onOneTable('names no column of a key with which another index begins, except the first and the date', async () => {
  const { rows } = await world.pool.query(
    `select indrelid::regclass::text as of, attname::text as begins
     from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
     where indrelid = any ($1::regclass[])`,
    [RETENTION.map(({ table }) => table)],
  )
  for (const { table, key, column } of RETENTION) {
    const begins = rows.filter(({ of }) => of === table).map((row) => row.begins)
    expect(
      key.slice(1).filter((name) => name !== column && begins.includes(name)),
      table,
    ).toEqual([])
  }
})

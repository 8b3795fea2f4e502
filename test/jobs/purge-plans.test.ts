import { afterAll, beforeAll, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import { believeEmpty, growDatabase, stopStatistics } from '../db/million.ts'
import { rowsTouched, watchPlans } from '../db/seen-plans.ts'
import { openWorld, type World } from '../harness.ts'

/**
 * The plans of the purge. Its tables are emptied and grow again between two analyses, so PostgreSQL may believe a table
 * empty that has millions of rows. With a plan made for that, one batch compared each row of the table with each key.
 */

const ROWS = 3_000
const DECADE_S = 10 * 365 * 24 * 3_600
/** A batch of 1,000 finds its rows and deletes them, and up to three more for each. */
const MOST_ROWS = 5_000

let world: World
let plans: Awaited<ReturnType<typeof watchPlans>>
beforeAll(async () => {
  world = await openWorld({ ORDER_PERSONAL_DATA_DAYS: '30', CALL_KEPT_DAYS: '30' })
  const { databaseUrl, pool, clock } = world
  await stopStatistics(databaseUrl)
  await growDatabase(databaseUrl, clock.now(), { users: ROWS, orders: 2 * ROWS, parties: 100 })
  await pool.query('update authorization_code set used_at = expires_at')
  await pool.query(
    `update ticket_order set state = 'consumed', state_since = created_at,
       delete_after = case when order_id % 2 = 0 then created_at + interval '1 day' end`,
  )
  await believeEmpty(databaseUrl)
  plans = await watchPlans(world)
  clock.advance(DECADE_S)
})
afterAll(async () => {
  plans?.stop()
  await world?.close()
})

it('looks each row up by its key, even in tables that PostgreSQL believes empty', async () => {
  const deleted: string[] = []
  const seen = await plans.during(async () => {
    deleted.push(...Object.keys((await purge(world.deps, {})).deleted))
  })
  expect(deleted.sort()).toEqual([
    'access_token',
    'authorization_code',
    'browser_session',
    'data_access',
    'notice',
    'partner_call',
    'refresh_token',
    'ticket_order',
    'used_code',
    'user_grant',
    'visitors of orders',
  ])
  const costly = seen.filter((plan) => rowsTouched(plan) > MOST_ROWS)
  expect(costly.map((plan) => `${rowsTouched(plan)} rows: ${plan.text}`)).toEqual([])
})

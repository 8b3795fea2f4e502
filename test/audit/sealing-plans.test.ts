import { afterAll, beforeAll, expect, it } from 'vitest'
import { takeUnsealed } from '../../src/platform/audit/seal-store.ts'
import { findEventsById } from '../../src/platform/audit/store.ts'
import { believeEmpty } from '../db/million.ts'
import { rowsTouched, watchPlans } from '../db/seen-plans.ts'
import { openWorld, type World } from '../harness.ts'

/** Rows of the audit log are sealed in batches, and both tables may have been emptied before their last analysis. */

const ROWS = 3_000
const BATCH = 500
/** The batch is found in one table and then looked up in another. */
const MOST_ROWS = 4 * BATCH

let world: World
let plans: Awaited<ReturnType<typeof watchPlans>>
beforeAll(async () => {
  world = await openWorld()
  const { pool } = world
  await pool.query('alter table audit_event set (autovacuum_enabled = off)')
  await pool.query('alter table audit_unsealed set (autovacuum_enabled = off)')
  await pool.query(
    `insert into audit_event (routing_key, audit_id, at, event, actor, outcome, detail)
     select 0, md5(n::text)::uuid, now(), 'test', 'test', 'success', '{}' from generate_series(1, ${ROWS}) n`,
  )
  await pool.query('insert into audit_unsealed select routing_key, audit_id from audit_event')
  await believeEmpty(world.databaseUrl, ['audit_event', 'audit_unsealed'])
  plans = await watchPlans(world)
})
afterAll(async () => {
  plans?.stop()
  await world?.close()
})

it('takes rows and looks them up by key, even in tables that PostgreSQL believes empty', async () => {
  const { db } = world.deps
  let found = 0
  const seen = await plans.during(async () => {
    const taken = await takeUnsealed(db, BATCH)
    const keys = taken.map(({ routing_key }) => routing_key)
    const ids = taken.map(({ audit_id }) => audit_id)
    found = (await findEventsById(db, keys, ids)).length
  })
  expect(found).toBe(BATCH)
  const costly = seen.filter((plan) => rowsTouched(plan) > MOST_ROWS)
  expect(costly.map((plan) => `${rowsTouched(plan)} rows: ${plan.text}`)).toEqual([])
})

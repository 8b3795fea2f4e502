import type { Pool } from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { openPool } from '../../src/platform/db/pool.ts'
import { dbOf, sql } from '../../src/platform/db/sql.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { freshDatabase } from '../harness.ts'

async function poolOn(addressOf: (url: string) => string = (url) => url): Promise<Pool> {
  const database = await freshDatabase()
  const settings = { connectionString: addressOf(database.url), size: 1, genericPlan: true }
  const pool = openPool(settings, openLog({ level: 'silent', pretty: false }))
  onTestFinished(async () => {
    await pool.end()
    await database.drop()
  })
  return pool
}

it.each([
  ['in the URL', (url: string) => `${url}?options=-c%20statement_timeout%3D4321`, undefined],
  [
    'in the URL among others',
    (url: string) => `${url}?options=-c%20statement_timeout%3D4321&sslmode=disable`,
    undefined,
  ],
  ['in PGOPTIONS', (url: string) => url, '-c statement_timeout=4321'],
])('keeps options that the operator gave %s', async (_where, addressOf, inEnvironment) => {
  vi.stubEnv('PGOPTIONS', inEnvironment)
  onTestFinished(() => void vi.unstubAllEnvs())
  const pool = await poolOn(addressOf)
  const { rows } = await pool.query(
    `select current_setting('statement_timeout') as given, current_setting('plan_cache_mode') as ours`,
  )
  expect(rows).toEqual([{ given: '4321ms', ours: 'force_generic_plan' }])
})

it('lets the operator override the planner settings', async () => {
  const pool = await poolOn((url) => `${url}?options=-c%20jit%3Don`)
  const { rows } = await pool.query(`select current_setting('jit') as jit`)
  expect(rows).toEqual([{ jit: 'on' }])
})

it('leaves the URL as it is written', async () => {
  const pool = await poolOn((url) => url.replace(/\/\/([^:]+):[^@]*@/, '//$1:a=b%zz@'))
  expect(pool.options.connectionString).toContain(':a=b%zz@')
})

it('plans a statement once, not for each execution', async () => {
  const pool = await poolOn()
  const db = dbOf(pool)
  const Row = z.object({ name: z.string() })
  const find = (keys: string[]) =>
    db.many(Row, sql`select name from unnest(${keys}::text[]) asked (app_key) join micro_app using (app_key)`)
  for (let count = 1; count <= 10; count++) await find(Array.from({ length: count }, (_, n) => `app-${n}`))
  const plans = await pool.query(
    `select custom_plans::int, generic_plans::int from pg_prepared_statements where statement like '%join micro_app%'`,
  )
  expect(plans.rows).toEqual([{ custom_plans: 0, generic_plans: 10 }])
})

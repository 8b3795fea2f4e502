import { readFileSync } from 'node:fs'
import { quickAddJob, runOnce } from 'graphile-worker'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import { recordAudit, sealAudit, verifyAudit } from '../../src/platform/audit/index.ts'
import { openPool } from '../../src/platform/db/pool.ts'
import { dbOf } from '../../src/platform/db/sql.ts'
import { openWorld, type World } from '../harness.ts'

/** The database role from OPERATIONS "Audit log", which may only add to the log. */

let world: World
let pool: pg.Pool
const role = `service_${process.pid}`
beforeAll(async () => {
  world = await openWorld()
  const text = readFileSync(new URL('../../.github/OPERATIONS.md', import.meta.url), 'utf8')
  const grants = /<!-- grants: [^>]*-->\n```sql\n([\s\S]*?)```/.exec(text)?.[1] ?? ''
  expect(grants).toContain('gatehouse_service')
  await world.pool.query(`create role ${role} login password 'x'`)
  for (const statement of grants.replaceAll('gatehouse_service', role).split(';\n')) await world.pool.query(statement)
  const url = new URL(world.databaseUrl)
  url.username = role
  url.password = 'x'
  pool = openPool({ connectionString: url.href, size: 3 }, world.log)
})
afterAll(async () => {
  await pool.end()
  await world.pool.query(`drop owned by ${role}`)
  await world.pool.query(`drop role ${role}`)
  await world.close()
})

const deps = () => ({ ...world.deps, db: dbOf(pool) })

it('the role writes events, seals and verifies them', async () => {
  await recordAudit(deps(), { event: 'app_updated', appKey: 'x' })
  expect(await sealAudit(deps())).toBe(1)
  expect(await verifyAudit(deps(), {})).toMatchObject({ intact: true, rows: 1 })
})

it('the role runs durable jobs, by the clock too', async () => {
  let done = 0
  const taskList = { count: () => void done++ }
  await quickAddJob({ pgPool: pool }, 'count', {})
  await runOnce({ pgPool: pool, taskList, noHandleSignals: true })
  expect(done).toBe(1)
  await pool.query("insert into graphile_worker._private_known_crontabs values ('hourly', now(), null)")
  expect((await pool.query('select from graphile_worker._private_known_crontabs')).rowCount).toBe(1)
})

describe('the role cannot', () => {
  it.each([
    "update audit_event set event = 'x'",
    'delete from audit_event',
    'truncate audit_event',
    'delete from audit_seal',
    'update audit_seal set seal_no = 5',
    'drop table audit_event',
    'alter table audit_event disable trigger all',
  ])('%s', async (statement) => {
    await expect(pool.query(statement)).rejects.toMatchObject({ code: '42501' })
  })
})

it('the role purges everything except the log', async () => {
  world.clock.advance(2_000 * 86_400)
  await world.pool.query("insert into rate_count (subject, uses, window_ends_at) values ('x', 1, now())")
  const purged = await purge(deps(), {})
  expect(purged.finished).toBe(true)
  expect(purged.deleted).not.toHaveProperty('audit_event')
  const asOwner = await purge(world.deps, {})
  expect(asOwner.deleted).toMatchObject({ audit_event: 1, audit_seal: 1 })
})

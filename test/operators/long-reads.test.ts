import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordAudit, sealAudit, verifyAudit } from '../../src/platform/audit/index.ts'
import { signedIn } from '../console/person.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

/** Long-running reads must not use up the database connections of operators. */

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const ask = (path: string) =>
  world.app.inject({ url: `/admin/v1${path}`, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
const verify = () => ask('/audit/verify')

/** Locks these tables while `work` runs, so that reading them has to wait. */
async function whileLocked(tables: string, work: () => Promise<void>): Promise<void> {
  const holder = await world.pool.connect()
  try {
    await holder.query(`begin; lock table ${tables} in access exclusive mode`)
    await work()
  } finally {
    await holder.query('rollback')
    holder.release()
  }
}

it('only one long read runs at a time in a process; another is rejected immediately', async () => {
  const admin = (await signedIn(world, 'admin')).person
  let end = () => {}
  const first = world.deps.longReads.run(() => new Promise<void>((resolve) => (end = resolve)))
  const further = await verify()
  expect(further.statusCode).toBe(429)
  expect(further.headers['retry-after']).toBe('30')
  expect(further.json()).toMatchObject({
    rescode: 20003,
    data: { message: expect.stringContaining('only one runs at a time, try again later') },
  })
  expect((await admin.submit('/console/audit/verify')).status).toBe(429)
  expect((await ask('/apps')).statusCode).toBe(200)
  end()
  await first
  expect((await verify()).statusCode).toBe(200)
})

it('a failed long read does not block the next one', async () => {
  await whileLocked('audit_seal', async () => {
    expect((await verify()).statusCode).toBe(503)
  })
  expect((await verify()).statusCode).toBe(200)
})

it('verification counts the whole log with more time than other statements have', async () => {
  const { db } = world.deps
  const given: number[] = []
  const slowTx: typeof db.slowTx = (seconds, work) => {
    given.push(seconds)
    return db.slowTx(seconds, work)
  }
  await verifyAudit({ ...world.deps, db: { ...db, slowTx } }, {})
  expect(given).toEqual([120])
})

it('verification stops at its time limit and names the command that has none', async () => {
  await recordAudit(world.deps, { event: 'app_updated' })
  await sealAudit(world.deps)
  await expect(verifyAudit(world.deps, {}, world.clock.elapsedMs())).rejects.toMatchObject({
    failure: { status: 503 },
    message: expect.stringContaining('gatehouse audit verify'),
  })
})

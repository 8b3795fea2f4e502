import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordAudit, sealAudit, verifyAudit } from '../../src/platform/audit/index.ts'
import { Client } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { signedIn } from '../console/person.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'

/** What an operator asks for and takes long leaves the connections of operators to others. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

const ask = (path: string) =>
  world.app.inject({ url: `/admin/v1${path}`, headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
const count = (app_key: string) => ask(`/apps/${app_key}/end-tokens`)
const verify = () => ask('/audit/verify')

/** Holds these tables while `work` is done: whoever reads them waits. */
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
const waiting = () => untilLocked(world.pool)

it('one at a time in a process: a further one is refused at once, with what to do', async () => {
  const { app_key } = await client.makeApp()
  const admin = (await signedIn(world, 'admin')).person
  let first: ReturnType<typeof count> | undefined
  await whileLocked('access_token', async () => {
    first = count(app_key)
    await waiting()
    for (const further of [await count(app_key), await verify()]) {
      expect(further.statusCode).toBe(429)
      expect(further.headers['retry-after']).toBe('30')
      expect(further.json()).toMatchObject({
        rescode: 20003,
        data: { message: expect.stringContaining('only one runs at a time, try again later') },
      })
    }
    expect((await admin.submit('/console/audit/verify')).status).toBe(429)
    // Making the change does not count again what its page has counted.
    const { form_mark = '' } = await admin.hidden('/console/apps/new')
    expect((await admin.post(`/console/apps/${app_key}/end-tokens`, { form_mark })).status).toBe(303)
    expect((await ask('/apps')).statusCode).toBe(200)
  })
  expect((await first)?.statusCode).toBe(200)
  expect((await verify()).statusCode).toBe(200)
})

it('the next one is answered after one that has failed', async () => {
  expect((await count('nobody')).statusCode).toBe(404)
  expect((await count('nobody')).statusCode).toBe(404)
})

it('verification ends when its time is over, and says where it has as long as it needs', async () => {
  await recordAudit(world.deps, { event: 'app_updated' })
  await sealAudit(world.deps)
  await expect(verifyAudit(world.deps, {}, world.clock.now())).rejects.toMatchObject({
    failure: { status: 503 },
    message: expect.stringContaining('gatehouse audit verify'),
  })
})

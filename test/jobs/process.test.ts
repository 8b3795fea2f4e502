import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { enqueue, listJobs } from '../../src/db/jobs-store.ts'
import { showProduct } from '../../src/ticketing/show-product.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'
import { type FakeSeller, fakeSeller, hang, ok } from '../ticketing/fake-seller.ts'
import { PRODUCT } from '../ticketing/interfaces/product-example.ts'

/** `npm run worker` as a process of its own, and its sudden death. */

let world: World
let seller: FakeSeller
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world)
})
afterAll(async () => {
  await seller.close()
  await world.close()
})

function startProcess(): ChildProcess {
  const program = fileURLToPath(new URL('../../.build/worker.js', import.meta.url))
  const settings = {
    DATABASE_URL: world.databaseUrl,
    SECRET_KEY,
    PARTNER_ADDRESS_ALLOW: '127.0.0.1',
    LOG_LEVEL: 'error',
  }
  return spawn(process.execPath, [program], { env: { PATH: process.env.PATH, ...settings }, stdio: 'inherit' })
}
async function until(probe: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 300; n++) {
    if (await probe()) return
    await sleep(50)
  }
  throw new Error('not within 15 s')
}
const states = async () => (await listJobs(world.deps.db, { failed: false, limit: 9 })).map(({ state }) => state)

it('a job that its worker has not survived is done by the next one', async () => {
  seller.on('/product/query', hang, ok([{ ...PRODUCT, partnerDealId: 'd-1' }] as object))
  await enqueue(world.deps.db, 'pull-product', { partnerId: '7001', partnerDealId: 'd-1' })
  const first = startProcess()
  await until(async () => seller.calls.length === 1)
  first.kill('SIGKILL')
  await once(first, 'exit')
  expect(await states()).toEqual(['running'])
  const next = startProcess()
  try {
    await until(async () => (await states()).length === 0)
    expect(seller.calls).toHaveLength(2)
    expect((await showProduct(world.deps, { partner_id: 7001n, partner_deal_id: 'd-1' })).product.title).toBe(
      PRODUCT.title,
    )
  } finally {
    next.kill('SIGTERM')
  }
  expect(await once(next, 'exit')).toEqual([0, null])
}, 40_000)

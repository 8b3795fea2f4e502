import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { listJobs } from '../../src/platform/db/jobs-store.ts'
import { applyProductChange } from '../../src/ticketing/catalogue/product-change.ts'
import { showProduct } from '../../src/ticketing/catalogue/show-product.ts'
import { SECRET_KEY } from '../harness.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { shardsOf } from '../one-table.ts'
import { hang, ok, worldWithSeller } from '../partner-calls/fake-seller.ts'
import { SHORT_LIVED } from '../start-options.ts'
import { until } from '../until.ts'

/** `npm run worker` as a separate process that is killed. */

const { world, seller, close } = await worldWithSeller()
const workers: ChildProcess[] = []
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL')
  await close()
})

function startProcess(): ChildProcess {
  const program = fileURLToPath(new URL('../../.build/worker.js', import.meta.url))
  const settings = {
    DATABASE_URL: world.databaseUrl,
    ...shardsOf({ DATABASE_URL: world.databaseUrl }),
    SECRET_KEY,
    PARTNER_ADDRESS_ALLOW: '127.0.0.1',
    LOG_LEVEL: 'error',
  }
  const worker = spawn(process.execPath, [...SHORT_LIVED, program], {
    env: { PATH: process.env.PATH, ...settings },
    stdio: 'inherit',
  })
  workers.push(worker)
  return worker
}
const stopped = async (worker: ChildProcess) => {
  worker.kill('SIGTERM')
  return once(worker, 'exit')
}
const tell = (partnerDealId: string) =>
  applyProductChange(world.deps, 7001n, [{ partnerDealId, status: 1 }], {
    cause: { kind: 'notice', id: 'n' },
    notice: 'deal-change',
  })
/** The worker that the first test leaves running for the second one. */
let survivor: ChildProcess | undefined
const jobsLeft = () => listJobs(world.deps.db, { failed: false, limit: 99 })
const states = async () => (await jobsLeft()).map(({ state }) => state)

it('the job of a killed worker is done by the next worker', async () => {
  seller.on('/product/query', hang, ok([{ ...PRODUCT, partnerDealId: 'd-1' }] as object))
  await tell('d-1')
  const first = startProcess()
  await until(async () => seller.calls.length === 1)
  first.kill('SIGKILL')
  await once(first, 'exit')
  expect(await states()).toEqual(['running'])
  // As if its lease of 30 s had expired.
  await world.pool.query('update worker_lease set ends_at = now()')
  survivor = startProcess()
  await until(async () => (await states()).length === 0)
  expect(seller.calls).toHaveLength(2)
  expect((await showProduct(world.deps, { partner_id: 7001n, partner_deal_id: 'd-1' })).product.title).toBe(
    PRODUCT.title,
  )
})

it('when one of two workers is killed, no job runs twice at once and none is lost', async () => {
  const wanted: string[] = []
  const unended = new Map<string, number>()
  const [ended, atOnce]: [string[], string[]] = [[], []]
  seller.on('/product/query', async ({ partnerDealIds: [deal] }) => {
    const before = unended.get(deal) ?? 0
    unended.set(deal, before + 1)
    if (before > 0) atOnce.push(deal)
    await sleep(400)
    unended.set(deal, (unended.get(deal) ?? 0) - 1)
    ended.push(deal)
    return ok([{ ...PRODUCT, partnerDealId: deal }] as object)
  })
  /** Keeps this many jobs waiting, however long a worker takes to start. */
  const keepWaiting = async (most: number) => {
    for (let left = wanted.length - ended.length; left < most; left++) {
      const partnerDealId = `two-${wanted.length}`
      wanted.push(partnerDealId)
      await tell(partnerDealId)
    }
  }
  await keepWaiting(30)
  const leases = async () =>
    (await world.pool.query('select worker_id from worker_lease')).rows.map(({ worker_id }) => String(worker_id))
  /** Jobs that a worker has locked, and those queued behind them, as jobs of one queue run one after the other. */
  const heldBy = async (worker: string) => {
    const { rows } = await world.pool.query(
      `select count(*) filter (where job.locked_by = $1)::int as own, count(*)::int as with_those_behind
       from graphile_worker._private_jobs job left join graphile_worker._private_job_queues queue
         on queue.id = job.job_queue_id
       where job.locked_by = $1 or queue.locked_by = $1`,
      [worker],
    )
    return rows[0] as { own: number; with_those_behind: number }
  }

  const dying = survivor ?? startProcess()
  await until(async () => (await leases()).length === 1)
  const [dead = ''] = await leases()
  const living = startProcess()
  try {
    await until(async () => {
      await keepWaiting(20)
      return (await leases()).length === 2 && ended.length > 5 && (await heldBy(dead)).own > 0
    })
    dying.kill('SIGKILL')
    await once(dying, 'exit')
    await world.pool.query("update worker_lease set ends_at = now() + interval '1 hour' where worker_id = $1", [dead])
    // While the lease of the dead worker lasts, the other does all jobs except these. The last statements of the dead one
    // may still take effect.
    await until(async () => (await states()).length === (await heldBy(dead)).with_those_behind, jobsLeft)
    expect((await heldBy(dead)).own).toBeGreaterThan(0)
    await world.pool.query('update worker_lease set ends_at = now() where worker_id = $1', [dead])
    await until(async () => (await states()).length === 0, jobsLeft)
  } finally {
    expect(await stopped(living)).toEqual([0, null])
  }
  expect(atOnce).toEqual([])
  expect([...new Set(ended)].sort()).toEqual([...wanted].sort())
})

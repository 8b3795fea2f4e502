import { afterAll, beforeAll, expect, it } from 'vitest'
import { afterFailure } from '../../src/operations/jobs/after-failure.ts'
import { jobCounts, retryJob } from '../../src/operations/jobs/job.ts'
import { CRON_TASKS, TASKS } from '../../src/operations/jobs/tasks.ts'
import { type JobWorker, startWorker } from '../../src/operations/jobs/worker.ts'
import { enqueue } from '../../src/platform/db/jobs-store.ts'
import { queueQuery } from '../../src/ticketing/orders/order-jobs.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { until } from '../until.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** Seconds until the job with this key is due, by the clock of the database, which decides when it runs. */
const dueIn = async (key: string): Promise<number> =>
  Number(
    (
      await world.pool.query(
        'select extract(epoch from run_at - now()) as seconds from graphile_worker.jobs where key = $1',
        [key],
      )
    ).rows[0].seconds,
  )
const idOf = async (key: string): Promise<string> =>
  String((await world.pool.query('select id from graphile_worker.jobs where key = $1', [key])).rows[0].id)

/** The database's clock is this many seconds behind ours. */
const behindBy = async (seconds: number) => {
  const { rows } = await world.pool.query('select now() as now')
  world.clock.advance((+rows[0].now - +world.clock.now()) / 1000 + seconds)
}

for (const [clocks, seconds] of [
  ['five minutes ahead of', 300],
  ['five minutes behind', -300],
] as const) {
  it(`jobs are due in time if the clock of this machine is ${clocks} the database's`, async () => {
    await world.pool.query('delete from graphile_worker._private_jobs')
    await behindBy(seconds)

    await queueQuery(world.deps, { order_id: 1n, partner_id: 2n }, 60)
    expect(await dueIn('query-order:1')).toBeCloseTo(60, -1)

    await enqueue(world.deps.db, 'pull-due', {}, { key: 'retried', afterS: 900 })
    await retryJob(world.deps, { job_id: await idOf('retried') })
    expect(await dueIn('retried')).toBeLessThanOrEqual(0)

    // After its eighth attempt a failed job pauses for 0 to 512 seconds.
    await enqueue(world.deps.db, 'pull-due', {}, { key: 'failed' })
    await world.pool.query("update graphile_worker._private_jobs set attempts = 8 where key = 'failed'")
    await afterFailure(world.deps, { id: await idOf('failed'), key: 'failed', attempts: 8 }, new Error('no'))
    expect(await dueIn('failed')).toBeGreaterThan(-5)
    expect(await dueIn('failed')).toBeLessThanOrEqual(512)

    const { oldest_due } = await jobCounts(world.deps)
    expect(oldest_due).not.toBeNull()
  })
}

const job = () => ({ id: '1', log: world.log, signal: new AbortController().signal })

it('a machine whose clock is more than an hour ahead of the database runs no recurring task', async () => {
  await behindBy(3_700)
  for (const { task } of CRON_TASKS) {
    const ran = TASKS[task](world.deps, {}, job())
    await expect(ran, task).rejects.toThrow(/^the clock of this machine is 37\d\d s ahead of .* nothing was done$/)
  }
})

it('a machine whose clock is more than an hour ahead of the database purges nothing', async () => {
  const left = async () => Number((await world.pool.query('select count(*) from pushed_request')).rows[0].count)
  await world.pool.query(
    `insert into pushed_request (request_hash, app_key, parameters, expires_at)
     values ('\\x01', 'app', '{}', now() + interval '10 minutes')`,
  )
  await behindBy(3_700)
  await expect(TASKS['purge-often'](world.deps, {}, job())).rejects.toThrow('nothing was done')
  expect(await left()).toBe(1)
  await behindBy(3_000)
  await TASKS['purge-often'](world.deps, {}, job())
  expect(await left()).toBe(0)
})

it('recurring tasks run again soon after a clock that was ahead is set back', async () => {
  const later = async () =>
    (await world.pool.query('select 1 from graphile_worker._private_known_crontabs where last_execution > now()')).rows
  const ranInTheYearToCome = () =>
    world.pool.query("update graphile_worker._private_known_crontabs set last_execution = now() + interval '1 year'")
  let worker: JobWorker = await startWorker(world.deps, world.log, world.databaseUrl)
  try {
    await until(async () => Number((await ranInTheYearToCome()).rowCount) > 0)
    await worker.stop()
    worker = await startWorker(world.deps, world.log, world.databaseUrl)
    expect(await later()).toEqual([])

    await ranInTheYearToCome()
    world.clock.advance(-7_200)
    await until(async () => (await later()).length === 0)
    expect(world.logged()).toContain("this machine's clock was set back")
  } finally {
    await worker.stop()
  }
})

it('a worker that is stopped while it restarts stops', async () => {
  const worker = await startWorker(world.deps, world.log, world.databaseUrl)
  const blocker = await world.pool.connect()
  try {
    await until(async () => (await world.pool.query('select from worker_lease')).rows.length > 0)
    await blocker.query('begin; lock table graphile_worker._private_known_crontabs in share mode')
    world.clock.advance(-7_200)
    await untilLocked(world.pool) // the restart begins
  } finally {
    const stopped = worker.stop()
    blocker.release(true)
    await stopped
  }
  expect((await world.pool.query('select from worker_lease')).rows).toEqual([])
})

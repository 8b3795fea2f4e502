import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { retryJob } from '../../src/operations/jobs/job.ts'
import { renewLease, takeLease, unlockDeadWorkers } from '../../src/operations/jobs/store.ts'
import { type JobWorker, startWorker } from '../../src/operations/jobs/worker.ts'
import { enqueue, type Job, listJobs } from '../../src/platform/db/jobs-store.ts'
import { applyProductChange } from '../../src/ticketing/catalogue/product-change.ts'
import { showProduct } from '../../src/ticketing/catalogue/show-product.ts'
import { Forwarder } from '../forwarder.ts'
import { openWorld, type World } from '../harness.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { desk, newId, stands } from '../orders/desk.ts'
import { recordOf } from '../orders/orders.ts'
import { type FakeSeller, fakeSeller, ok, refusal, reset, status } from '../partner-calls/fake-seller.ts'
import { until } from '../until.ts'
import { dueAtOnce } from './due-at-once.ts'
import { endedTokens } from './ended-tokens.ts'

let world: World
let seller: FakeSeller
let order: ReturnType<typeof desk>
let worker: JobWorker | undefined
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world)
  order = desk(world)
  await dueAtOnce(world.pool)
})
afterAll(async () => {
  await seller.close()
  await world.close()
})
beforeEach(async () => {
  await world.pool.query('delete from graphile_worker._private_jobs')
  await world.pool.query('delete from pull_due')
  seller.calls.length = 0
})
afterEach(async () => {
  await worker?.stop()
  worker = undefined
})

const start = async () => {
  worker = await startWorker(world.deps, world.log, world.databaseUrl)
}
const jobs = (failed = false) => listJobs(world.deps.db, { failed, limit: 100 })
const done = () => until(async () => (await jobs()).length === 0, jobs)
const failedJob = () => until<Job>(async () => (await jobs(true))[0])
/** As if leases that were not renewed twice in a row had expired. */
const endSilentLeases = async () => {
  await world.pool.query("update worker_lease set ends_at = now() where ends_at < now() + interval '23 seconds'")
  await unlockDeadWorkers(world.deps.db)
}
const MEMBER_PASSWORD = { clientId: 'nobody', mail: 'nobody@example.com' }
const addMany = async () => {
  for (let n = 0; n < 400; n++) await enqueue(world.deps.db, 'member-password', MEMBER_PASSWORD)
}
const left = async () =>
  Number((await world.pool.query('select count(*) from graphile_worker._private_jobs')).rows[0].count)
/** Starts a worker whose connection to the database can be cut, paused or delayed. */
const startForwarded = async () => {
  const forwarder = new Forwarder()
  await forwarder.open()
  forwarder.target = Number(new URL(world.databaseUrl).port)
  worker = await startWorker(world.deps, world.log, forwarder.through(world.databaseUrl))
  return forwarder
}
/** Waits for all jobs, including those that a worker had locked under a former name. */
const allDone = () =>
  until(async () => {
    await endSilentLeases()
    return (await left()) === 0
  }, left)
const stopForwarded = async (forwarder: Forwarder) => {
  await worker?.stop()
  worker = undefined
  forwarder.close()
}
const tell = (partnerDealId: string, status: 1 | 5) =>
  applyProductChange(world.deps, 7001n, [{ partnerDealId, status }], {
    cause: { kind: 'notice', id: 'n' },
    notice: 'deal-change',
  })
const prices = { partnerDealId: 'd-1', marketPrice: 1, mtPrice: 1, settlementPrice: 1, stock: 1 }

describe('the worker', () => {
  it('pulls the products and prices that a notice reports as changed', async () => {
    seller.on('/product/query', ok([{ ...PRODUCT, partnerDealId: 'd-1' }] as object))
    seller.on('/product/price/query', ok([{ ...prices, date: '2026-06-01' }] as object))
    await tell('d-1', 1)
    await tell('d-1', 5)
    await start()
    await done()
    expect(await showProduct(world.deps, { partner_id: 7001n, partner_deal_id: 'd-1' })).toMatchObject({
      product: { title: PRODUCT.title, sale_state: 'on_sale' },
      prices: [{ price_date: '2026-06-01', mt_price: 1 }],
    })
  })

  it('retries with a random pause whose maximum doubles', async () => {
    // Its name comes before due_at_once, so it sees what was asked for.
    await world.pool.query(`create table public.pause (ms float);
      create function a_note() returns trigger language plpgsql as
        $$ begin insert into public.pause values (extract(epoch from new.run_at - now()) * 1000); return new; end $$;
      create trigger a_note before update of run_at on graphile_worker._private_jobs for each row
        when (old.locked_at is null and new.locked_at is null) execute function a_note()`)
    seller.on('/product/query', status(500), status(500), ok([{ ...PRODUCT, partnerDealId: 'd-2' }] as object))
    await start()
    await tell('d-2', 1)
    await done()
    expect(seller.calls).toHaveLength(3)
    const { rows } = await world.pool.query('select ms from pause')
    expect(rows).toHaveLength(2)
    for (const { ms } of rows) {
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBeLessThanOrEqual(8_000)
    }
    await world.pool.query('drop table pause; drop function a_note cascade')
  })

  it('gives up at once on a failure that retrying cannot fix; an operator can retry the job', async () => {
    seller.on(
      '/product/query',
      ok([{ ...PRODUCT, partnerDealId: 'd-3', title: '' }] as object),
      ok([{ ...PRODUCT, partnerDealId: 'd-3' }] as object),
    )
    await start()
    await tell('d-3', 1)
    const job = await failedJob()
    expect(job).toMatchObject({
      task: 'pull-due',
      key: 'pull-due:7001',
      state: 'failed',
      last_error: 'd-3: title must not be empty',
    })
    expect(world.logged()).toContain('a job failed permanently')
    expect(await retryJob(world.deps, { job_id: job.job_id })).toMatchObject({ state: 'waiting', attempts: 0 })
    const { rows } = await world.pool.query("select target, detail from audit_event where event = 'job_retried'")
    expect(rows).toMatchObject([{ target: `job:${job.job_id}`, detail: { task: 'pull-due' } }])
    await done()
    await expect(retryJob(world.deps, { job_id: job.job_id })).rejects.toMatchObject({ failure: { status: 404 } })
  })

  it('leaves a job without remaining attempts to an operator', async () => {
    seller.on('/product/query', status(500))
    await tell('d-4', 1)
    await enqueue(world.deps.db, 'pull-due', { partnerId: '7001' }, { key: 'pull-due:7001', maxAttempts: 2 })
    await start()
    expect(await failedJob()).toMatchObject({
      attempts: 2,
      max_attempts: 2,
      last_error: 'http-status: HTTP status 500',
    })
    expect(seller.calls).toHaveLength(2)
    await enqueue(world.deps.db, 'query-order', { orderId: '9', asked: 0 })
    await until(async () => (await jobs(true)).find(({ last_error }) => last_error?.includes('order 9 does not exist')))
  })

  it('drops a failed job if a newer one with its key was queued meanwhile', async () => {
    seller.on('/product/query', async () => {
      if (seller.calls.length === 1) await tell('d-5', 1)
      return seller.calls.length === 1 ? status(500) : ok([{ ...PRODUCT, partnerDealId: 'd-5' }] as object)
    })
    await start()
    await tell('d-5', 1)
    await done()
    expect(seller.calls).toHaveLength(2)
  })

  it('queries an order that the partner is still issuing until its outcome is known', async () => {
    const orderId = newId()
    await order.create(orderId)
    seller.on('/order/pay', refusal(598))
    seller.on('/order/query', status(500), stands(orderId, 5), stands(orderId, 4))
    await order.pay(orderId)
    await start()
    await done()
    expect((await recordOf(world.pool, orderId)).state).toBe('paid')
    expect(seller.paths()).toEqual(['/order/create', '/order/pay', '/order/query', '/order/query', '/order/query'])
  })

  it('resolves orders whose response was lost, without an operator', async () => {
    const [created, paid] = [newId(), newId()]
    await order.create(paid)
    seller.on('/order/create', reset)
    seller.on('/order/pay', reset)
    await order.create(created)
    await order.pay(paid)
    seller.on('/order/query', ({ orderId }) =>
      stands(orderId, orderId === paid ? 4 : 2, { partnerOrderId: `P-${orderId}` }),
    )
    await start()
    await done()
    expect((await recordOf(world.pool, created)).state).toBe('created')
    expect((await recordOf(world.pool, paid)).state).toBe('paid')
    seller.on('/order/create', ({ orderId }) => ok({ partnerOrderId: `P-${orderId}` }))
  })

  it('leaves an order that is undecided for a day to an operator', async () => {
    const orderId = newId()
    await order.create(orderId)
    seller.on('/order/pay', refusal(598))
    seller.on('/order/query', refusal(302, 'busy'))
    await order.pay(orderId)
    world.clock.advance(86_401)
    await start()
    expect(await failedJob()).toMatchObject({
      task: 'query-order',
      last_error: `order ${orderId} has been paying for a day; the last query failed with partner-code: 302 (look-up failed): ***`,
    })
  })

  it.each([
    ['an order that is being closed', 'order', 'has been closing for a day'],
    ['refunds whose answers are lost', 'refunds', 'refund r-1 has been unknown for a day'],
  ] as const)('leaves %s to an operator after a day, and calls the partner no more', async (_, about, reason) => {
    seller.on('/order/pay', ok({ voucherType: 0 }))
    seller.on('/order/close', reset)
    seller.on('/order/refund', reset)
    seller.on('/order/query', ({ orderId }) => stands(orderId as bigint, 4))
    const orderId = newId()
    await order.create(orderId)
    if (about === 'order') {
      await order.close(orderId)
    } else {
      await order.pay(orderId)
      await order.refund(orderId, 'r-1', { quantity: 1 })
      await order.refund(orderId, 'r-2', { quantity: 1 })
    }
    world.clock.advance(86_401)
    seller.calls.length = 0
    await start()
    const key = `query-order:${orderId}${about === 'refunds' ? ':refunds' : ''}`
    expect(await failedJob()).toMatchObject({ task: 'query-order', key, last_error: expect.stringContaining(reason) })
    expect(await jobs()).toHaveLength(1)
    const asked =
      about === 'order' ? ['/order/close'] : ['/order/query', '/order/refund', '/order/query', '/order/refund']
    expect(seller.paths()).toEqual(asked)
  })

  it('unlocks the jobs of dead workers only', async () => {
    await tell('d-6', 1)
    await enqueue(world.deps.db, 'purge', {}, { key: 'purge' })
    await world.pool.query(
      "update graphile_worker._private_jobs set locked_at = now(), locked_by = 'dead' where key <> 'purge'",
    )
    await world.pool.query(
      "update graphile_worker._private_jobs set locked_at = now(), locked_by = 'alive' where key = 'purge'",
    )
    await takeLease(world.deps.db, 'alive', 60)
    await takeLease(world.deps.db, 'dead', 0)
    await unlockDeadWorkers(world.deps.db)
    expect((await jobs()).map(({ key, state }) => [key, state])).toEqual([
      ['purge', 'running'],
      ['pull-due:7001', 'waiting'],
    ])
    expect(await renewLease(world.deps.db, 'dead', 60)).toBe(0)
    expect(await renewLease(world.deps.db, 'alive', 0)).toBe(1)
    await unlockDeadWorkers(world.deps.db)
    expect((await jobs()).every(({ state }) => state === 'waiting')).toBe(true)
  })

  it('gets its lease by a second attempt if the response to the first was lost', async () => {
    await takeLease(world.deps.db, 'retried', 0)
    await takeLease(world.deps.db, 'retried', 60)
    await unlockDeadWorkers(world.deps.db)
    expect(await renewLease(world.deps.db, 'retried', 0)).toBe(1)
    await unlockDeadWorkers(world.deps.db)
  })

  it('unlocks a job that was locked only after the lease of its worker had expired', async () => {
    await tell('d-6', 1)
    await world.pool.query("update graphile_worker._private_jobs set locked_at = now(), locked_by = 'ended before'")
    await unlockDeadWorkers(world.deps.db)
    expect((await jobs()).map(({ state }) => state)).toEqual(['waiting'])
  })

  it('keeps only one job if it was queued again while its worker died', async () => {
    await tell('d-6', 1)
    await world.pool.query("update graphile_worker._private_jobs set locked_at = now(), locked_by = 'dead'")
    await tell('d-7', 1)
    expect(await jobs()).toHaveLength(2)
    await takeLease(world.deps.db, 'dead', 0)
    await unlockDeadWorkers(world.deps.db)
    expect((await jobs()).map(({ key, state }) => [key, state])).toEqual([['pull-due:7001', 'waiting']])
  })

  it('keeps a job whose worker died in each of its attempts, as failed', async () => {
    await enqueue(world.deps.db, 'send-person-mail', {})
    await world.pool.query(
      "update graphile_worker._private_jobs set locked_at = now(), locked_by = 'dead', attempts = max_attempts",
    )
    await takeLease(world.deps.db, 'dead', 0)
    await unlockDeadWorkers(world.deps.db)
    expect(await jobs()).toMatchObject([{ task: 'send-person-mail', state: 'failed' }])
  })

  it('restarts under another name after its lease has expired', async () => {
    seller.on('/product/query', ok([{ ...PRODUCT, partnerDealId: 'd-8' }] as object))
    await start()
    const leases = async () => (await world.pool.query('select worker_id from worker_lease')).rows
    const [first] = await until(async () => ((await leases()).length === 1 ? leases() : false))
    await world.pool.query('update worker_lease set ends_at = now()')
    await until(async () => world.logged().includes('the lease of this worker has expired'))
    await tell('d-8', 1)
    await done()
    await unlockDeadWorkers(world.deps.db)
    const [second, ...more] = await leases()
    expect(more).toEqual([])
    expect(second).not.toEqual(first)
    await worker?.stop()
    worker = undefined
    expect(await leases(), 'returned').toEqual([])
  })

  it('restarts if the queue ends by itself, and keeps no lease in its former name', async () => {
    seller.on('/product/query', ok([{ ...PRODUCT, partnerDealId: 'd-10' }] as object))
    await start()
    const leases = async () => (await world.pool.query('select worker_id from worker_lease')).rows
    const [first] = await until(async () => ((await leases()).length === 1 ? leases() : false))
    // What a newer version of the queue announces, until this one listens; it also sets the exit code.
    const announced = () => world.pool.query(`select pg_notify('worker:migrate', '{"breaking":true}')`)
    await until(() => process.exitCode === 57 || announced().then(() => false))
    process.exitCode = undefined
    await tell('d-10', 1)
    await done()
    expect(await leases()).not.toContainEqual(first)
  })

  it('survives a database outage while jobs finish, and does all of them', async () => {
    await addMany()
    const forwarder = await startForwarded()
    await until(async () => (await left()) < 300, left, 1)
    forwarder.target = null
    forwarder.cut()
    await sleep(500)
    forwarder.target = Number(new URL(world.databaseUrl).port)
    await allDone()
    await stopForwarded(forwarder)
  })

  it('survives a database that no longer lets it in while jobs finish, and writes their ends later', async () => {
    const guest = `guest_${randomBytes(4).toString('hex')}`
    await world.pool.query(`create role ${guest} superuser login password 'guest'`)
    const url = Object.assign(new URL(world.databaseUrl), { username: guest, password: 'guest' }).href
    await addMany()
    const before = world.logged().length
    worker = await startWorker(world.deps, world.log, url)
    await until(async () => (await left()) < 300, left, 1)
    await world.pool.query(`alter role ${guest} nologin`)
    await world.pool.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [guest])
    await sleep(500)
    await world.pool.query(`alter role ${guest} login`)
    await allDone()
    expect(world.logged().slice(before)).not.toContain('the end of a job was refused')
    await worker.stop()
    worker = undefined
    await world.pool.query(`drop role ${guest}`)
  })

  it('survives a locked table while jobs finish, and a database that hangs', async () => {
    await addMany()
    const forwarder = await startForwarded()
    await until(async () => (await left()) < 300, left, 1)
    const locker = await world.pool.connect()
    await locker.query('begin; lock table graphile_worker._private_jobs')
    await sleep(4_000) // longer than lock_timeout
    await locker.query('rollback')
    locker.release()
    await addMany()
    await until(async () => (await left()) < 600, left, 1)
    forwarder.hold()
    await sleep(11_000) // longer than a client waits
    forwarder.release()
    await allDone()
    await stopForwarded(forwarder)
  })

  it('restarts if the queue could not look up its tasks', async () => {
    await enqueue(world.deps.db, 'member-password', MEMBER_PASSWORD)
    const locker = await world.pool.connect()
    await locker.query('begin; lock table graphile_worker._private_tasks in exclusive mode')
    await start()
    await until(() => world.logged().includes('the queue could not look up its tasks'))
    await locker.query('rollback')
    locker.release()
    await allDone()
  })

  it('continues if the database rejects the end of a job, and runs that job again', async () => {
    await world.pool.query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
      create trigger refuse before delete on graphile_worker._private_jobs for each row execute function refuse()`)
    await enqueue(world.deps.db, 'member-password', MEMBER_PASSWORD)
    await start()
    await until(() => world.logged().includes('the end of a job was refused'))
    await world.pool.query('drop function refuse cascade')
    await allDone()
  })

  it('stops at once while the database is unavailable, and leaves unfinished jobs to the next worker', async () => {
    await addMany()
    const forwarder = await startForwarded()
    await until(async () => (await left()) < 300, left, 1)
    forwarder.target = null
    forwarder.cut()
    const again = () => world.logged().split('the worker could not restart').length
    const before = again()
    await until(() => again() > before)
    const askedAt = performance.now()
    await stopForwarded(forwarder)
    expect(performance.now() - askedAt).toBeLessThan(10_000)
    await start()
    await allDone()
  })

  it.each([
    ['that breaks', 1_000],
    ['that is silent for too long', 12_000],
  ])('does not leave jobs locked that it took over a connection %s', async (_, lateMs) => {
    await addMany() // so that it is always taking a job
    const forwarder = await startForwarded()
    await until(async () => (await left()) < 300, left, 1)
    const restarts = () => world.logged().split('did not answer while this worker took a job').length
    const before = restarts()
    forwarder.lateMs = lateMs
    await sleep(200)
    if (lateMs < 10_000) forwarder.cut()
    else await sleep(10_500)
    forwarder.lateMs = 0
    await until(() => restarts() > before)
    await allDone()
    await stopForwarded(forwarder)
  })

  it('takes no job while it cannot renew its lease, and continues when it can', async () => {
    seller.on('/product/query', ok([{ ...PRODUCT, partnerDealId: 'd-9' }] as object))
    await start()
    await until(async () => (await world.pool.query('select from worker_lease')).rowCount)
    const locker = await world.pool.connect()
    await locker.query('begin; lock table worker_lease')
    await sleep(13_500) // of 30 s: a job started now could outlast the lease
    await tell('d-9', 1)
    await sleep(1_000)
    expect(seller.calls).toEqual([])
    await locker.query('rollback')
    locker.release()
    await done()
    expect(seller.paths()).toContain('/product/query')
  })

  it('purges notices and calls in both directions after 30 days, and logs it', async () => {
    await world.pool.query('delete from partner_call')
    const insert = async (days: number) => {
      const at = new Date(+world.clock.now() - days * 86_400_000)
      await world.pool.query(
        `insert into partner_call (call_id, partner_id, interface, started_at, duration_ms, url, request_headers, request_body, cause)
         values (gen_random_uuid(), 7001, 'heartbeat', $1, 1, '', '{}', '', 'playground')`,
        [at],
      )
      await world.pool.query(
        `insert into rejected_call (call_id, received_at, path, reason, headers, body, answer)
         values (gen_random_uuid(), $1, '/', '"old"', '{}', '', '')`,
        [at],
      )
      await world.pool.query(
        `insert into notice (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer)
         values ('seller', '/', $2, gen_random_uuid(), 7001, $1, '', '')`,
        [at, Buffer.from(`${days}`)],
      )
    }
    await insert(29)
    await insert(31)
    await enqueue(world.deps.db, 'purge', {})
    await start()
    await done()
    for (const table of ['rejected_call', 'partner_call', 'notice']) {
      expect((await world.pool.query(`select from ${table}`)).rowCount, table).toBe(1)
    }
    const said = world
      .logged()
      .split('\n')
      .find((line) => line.includes('expired rows were purged'))
    expect(JSON.parse(said ?? '{}')).toMatchObject({
      level: 30,
      task: 'purge',
      deleted: { notice: 1, rejected_call: 1, partner_call: 1 },
      finished: true,
    })
  })

  it('does not wait for a long purge when it is stopped', async () => {
    await endedTokens(world, 100_000)
    await enqueue(world.deps.db, 'purge', {})
    await start()
    const left = async () => (await world.pool.query('select count(*)::int as rows from access_token')).rows[0].rows
    await until(async () => (await left()) < 100_000)
    await worker?.stop()
    worker = undefined
    expect(await left()).toBeGreaterThan(0)
    expect(world.logged()).toContain('"finished":false')
    await world.pool.query('truncate access_token')
  })

  it('waits for running jobs when it is stopped, and logs no payload', async () => {
    seller.on('/product/query', async () => {
      await sleep(500)
      return ok([{ ...PRODUCT, partnerDealId: 'd-8-not-for-the-log' }] as object)
    })
    await tell('d-8-not-for-the-log', 1)
    await start()
    await until(async () => seller.calls.length > 0)
    await worker?.stop()
    worker = undefined
    expect(await jobs()).toEqual([])
    expect(world.logged()).toContain('"queue":true')
    expect(world.logged()).not.toContain('not-for-the-log')
  })
})

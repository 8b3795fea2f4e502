import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { retryJob } from '../../src/operations/jobs/job.ts'
import { type JobWorker, startWorker } from '../../src/operations/jobs/worker.ts'
import { enqueue, listJobs } from '../../src/platform/db/jobs-store.ts'
import type { Db } from '../../src/platform/db/sql.ts'
import { startRun } from '../../src/sandbox/certification/run.ts'
import { choice } from '../../src/sandbox/test-plan/index.ts'
import { pullDue } from '../../src/ticketing/catalogue/due-pulls.ts'
import { applyProductChange, type ProductChange } from '../../src/ticketing/catalogue/product-change.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { openWorld, type World } from '../harness.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { duePulls, waitingJobs } from '../orders/orders.ts'
import { type FakeSeller, fakeSeller, ok, refusal, slowly, status } from '../partner-calls/fake-seller.ts'
import { until } from '../until.ts'

let world: World
let seller: FakeSeller
let worker: JobWorker | undefined
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world)
})
afterAll(async () => {
  await seller.close()
  await world.close()
})
beforeEach(async () => {
  await world.pool.query('delete from graphile_worker._private_jobs')
  await world.pool.query('delete from pull_due')
  world.deps.calls.breakers.reset(7001n)
  seller.calls.length = 0
})
afterEach(async () => {
  await worker?.stop()
  worker = undefined
})

const NOTICE = { kind: 'notice', id: 'n' } as const
const tell = (entries: readonly ProductChange[], partnerId = 7001n, deps = world.deps) =>
  applyProductChange(deps, partnerId, entries, { cause: NOTICE, notice: 'deal-change' })
const changed = (...ids: string[]) => ids.map((partnerDealId) => ({ partnerDealId, status: 1 as const }))
const many = (count: number) => changed(...Array.from({ length: count }, (_, place) => `p-${place}`))
const run = (chosen?: ReadonlySet<string>) =>
  pullDue(world.deps, 7001n, { signal: AbortSignal.timeout(60_000), chosen })
const jobs = (failed = false) => listJobs(world.deps.db, { failed, limit: 100 })
const entries = ({ partnerDealIds }: { partnerDealIds: string[] }) =>
  ok(partnerDealIds.map((partnerDealId) => ({ ...PRODUCT, partnerDealId })) as object)

/** Deps whose statements are counted, including those within transactions. */
function counted(): { deps: World['deps']; count: () => number } {
  let count = 0
  const counting = (db: Db): Db =>
    new Proxy(db, {
      get: (target, name) => {
        const part = target[name as keyof Db]
        if (name === 'tx') return (work: (db: Db) => Promise<unknown>) => target.tx((inside) => work(counting(inside)))
        if (typeof part === 'function') count++
        return part
      },
    })
  return { deps: { ...world.deps, db: counting(world.deps.db) }, count: () => count }
}

describe('a product notice', () => {
  it('with a thousand entries takes as many statements as one with a single entry, and adds one job', async () => {
    const one = counted()
    await tell(many(1), 7001n, one.deps)
    const thousand = counted()
    await tell(many(1_000), 7001n, thousand.deps)
    // Handled one by one, these would be 2,000 statements and 1,000 jobs.
    expect([one.count(), thousand.count()]).toEqual([2, 2])
    expect(await duePulls(world.pool)).toHaveLength(1_000)
    expect(await waitingJobs(world.pool)).toEqual(['pull-due pull-due:7001'])
  })

  it('schedules each product once, however many entries it has', async () => {
    await tell([
      ...[1, 0, 5, 2, 1].map((status) => ({ partnerDealId: 'd-1', status: status as 0 | 1 | 2 | 5 })),
      { partnerDealId: 'd-2', status: 0 },
    ])
    expect(await duePulls(world.pool)).toEqual(['prices 7001:d-1', 'product 7001:d-1'])
    const { rows } = await world.pool.query(
      "select sale_state from product where partner_deal_id like 'd-%' order by 1",
    )
    expect(rows).toEqual([{ sale_state: 'off_sale' }, { sale_state: 'on_sale' }])
  })

  it('that requires no pull adds no job', async () => {
    await tell([{ partnerDealId: 'd-2', status: 0 }])
    expect(await waitingJobs(world.pool)).toEqual([])
  })

  it('that arrives during the pull is not lost', async () => {
    seller.on('/product/query', async (body) => {
      if (seller.calls.length === 1) await tell(changed('d-3'))
      return entries(body)
    })
    await tell(changed('d-3'))
    worker = await startWorker(world.deps, world.log, world.databaseUrl)
    await until(async () => (await jobs()).length === 0, jobs)
    expect(seller.calls).toHaveLength(2)
    expect(await duePulls(world.pool)).toEqual([])
  })
})

describe('due pulls', () => {
  it('are made even if the response to one of them is invalid', async () => {
    seller.on('/product/query', (body) =>
      body.partnerDealIds[0] === 'p-1'
        ? ok([{ ...PRODUCT, partnerDealId: 'p-1', title: '' }] as object)
        : entries(body),
    )
    await tell(many(60))
    expect(await run()).toEqual({ settled: 60, left: false, failure: null, problems: 'p-1: title must not be empty' })
    expect(seller.calls).toHaveLength(60)
    expect(await duePulls(world.pool)).toEqual(['product 7001:p-1'])
    await tell(changed('p-2'))
    expect(await run()).toMatchObject({ settled: 1, problems: null })
    expect(seller.calls).toHaveLength(61)
  })

  it('that were given up are made when an operator retries the job', async () => {
    seller.on('/product/query', ok([] as object), entries)
    await tell(changed('d-4'))
    worker = await startWorker(world.deps, world.log, world.databaseUrl)
    await until(async () => (await jobs(true)).length === 1)
    const [job] = await jobs(true)
    expect(job).toMatchObject({ task: 'pull-due', key: 'pull-due:7001', last_error: 'd-4:  is not in the response' })
    await retryJob(world.deps, { job_id: job?.job_id ?? '' })
    await until(async () => (await jobs()).length === 0, jobs)
    expect(await duePulls(world.pool)).toEqual([])
  })

  it('stop after a few failures if the partner seems to be down', async () => {
    seller.on('/product/query', status(500))
    await tell(many(20))
    expect(await run()).toMatchObject({ settled: 0, left: true, failure: 'http-status: HTTP status 500' })
    expect(seller.calls.length).toBeLessThan(5)
    expect(await duePulls(world.pool)).toHaveLength(20)
  })

  it('do not wait for ever behind products that the partner never answers for', async () => {
    seller.on('/product/query', (asked) =>
      asked.partnerDealIds[0].startsWith('broken') ? status(500) : entries(asked),
    )
    await tell(changed('broken-1', 'broken-2', 'broken-3', 'broken-4', 'good'))
    for (let runs = 0; runs < 3; runs++) {
      world.clock.advance(60)
      await run()
      world.deps.calls.breakers.reset(7001n)
    }
    expect(await duePulls(world.pool)).toEqual([1, 2, 3, 4].map((n) => `product 7001:broken-${n}`))
  })

  it('are retried later if only some of them succeed', async () => {
    seller.on('/product/query', entries, refusal(302))
    await tell(many(10))
    worker = await startWorker(world.deps, world.log, world.databaseUrl)
    const failed = async () => (await jobs()).find(({ last_error }) => last_error !== null)
    await until(async () => (await failed()) !== undefined)
    expect(await failed()).toMatchObject({ key: 'pull-due:7001', last_error: expect.stringContaining('partner-code') })
    expect((await duePulls(world.pool)).length).toBeLessThan(10)
  })
})

describe('functions that the seller has not chosen', () => {
  const price = { partnerDealId: 'c-1', marketPrice: 1, mtPrice: 1, settlementPrice: 1, stock: 1 }
  const all = async () => {
    seller.on('/product/query', entries)
    seller.on('/product/price/query', ok([{ ...price, date: '2026-06-01' }] as object))
    seller.on('/product/level/price/calendar/v2', ok([] as object, { partnerDealId: 'c-1' }))
    await tell([1, 5].map((status) => ({ partnerDealId: 'c-1', status: status as 1 | 5 })))
  }

  it.each([
    [[], []],
    [['product-pull'], ['/product/query']],
    [['price-calendar'], ['/product/price/query']],
    [['level-price-calendar'], ['/product/level/price/calendar/v2']],
    [
      ['product-pull', 'price-calendar', 'level-price-calendar'],
      ['/product/price/query', '/product/query'],
    ],
  ])('cause no calls: with %j chosen', async (chosen, called) => {
    await all()
    expect(await run(new Set(chosen))).toEqual({ settled: 2, left: false, failure: null, problems: null })
    expect(seller.paths().sort()).toEqual(called)
    expect(await duePulls(world.pool)).toEqual([])
  })

  it('are taken from the runs of the seller; a live partner without runs is called for everything', async () => {
    const lone = await fakeSeller(world, 7201, { fields: { stage: 'sandbox' } })
    const pathsCalled = async () => {
      lone.calls.length = 0
      await tell(
        [1, 5].map((status) => ({ partnerDealId: 'c-2', status: status as 1 | 5 })),
        7201n,
      )
      await until(async () => (await jobs()).length === 0, jobs)
      expect(await duePulls(world.pool)).toEqual([])
      return lone.paths().sort()
    }
    lone.on('/product/query', entries)
    lone.on('/product/price/query', ok([{ ...price, partnerDealId: 'c-2', date: '2026-06-01' }] as object))
    worker = await startWorker(world.deps, world.log, world.databaseUrl)
    expect(await pathsCalled(), 'a sample of a new seller').toEqual([])
    const choose = (...functions: string[]) =>
      startRun(
        world.deps,
        7201n,
        choice.parse({ functions: ['pay-at-once', 'refund-at-once', ...functions], products: { main: 'c-2' } }),
      )
    const { run_id } = await choose('product-pull')
    expect(await pathsCalled()).toEqual(['/product/query'])
    await world.pool.query('update sandbox_run set passed_at = now() where run_id = $1', [run_id])
    await choose('price-calendar')
    expect(await pathsCalled(), 'chosen in the accepted run, or in this one').toEqual([
      '/product/price/query',
      '/product/query',
    ])
    await world.pool.query('delete from sandbox_run where partner_id = 7201')
    await world.pool.query("update partner set stage = 'live' where partner_id = 7201")
    expect(await pathsCalled()).toEqual(['/product/price/query', '/product/query'])
    await lone.close()
  })
})

describe('slow partners', () => {
  it('do not delay the pulls of other partners, nor the purge', async () => {
    const slow = await Promise.all([7101, 7102].map((id) => fakeSeller(world, id)))
    let answer = () => {}
    const othersAreDone = new Promise<void>((resolve) => {
      answer = resolve
    })
    for (const one of slow) {
      one.on('/product/query', async (body) => {
        await othersAreDone
        return entries(body)
      })
      await tell(many(50), one.partnerId)
    }
    worker = await startWorker(world.deps, world.log, world.databaseUrl)
    await until(() => slow.every(({ calls }) => calls.length > 0))
    seller.on('/product/query', entries)
    await tell(many(20))
    await enqueue(world.deps.db, 'purge', {})
    await until(async () => (await jobs()).every(({ key }) => /:710\d$/.test(key ?? '')))
    expect(seller.calls).toHaveLength(20)
    // If each product were a job, all five concurrent jobs would be waiting for these two partners.
    for (const { calls } of slow) expect(calls.length).toBeLessThanOrEqual(6)
    answer()
    await worker.stop()
    worker = undefined
    for (const one of slow) await one.close()
  })

  it('get no background calls, only others, until they take little time again', async () => {
    await createPartner(world.deps, newPartner.parse({ partner_id: 7103, client_id: 'slow', name: 'Slow' }), 's')
    const { breakers } = world.deps.calls
    const admitted = () => [true, false].map((background) => breakers.allowsCall(7103n, background) === true)
    for (let calls = 0; calls < 100; calls++) breakers.recordOutcome(7103n, true, 4_000)
    expect(admitted(), 'many answers, none of them slow').toEqual([true, true])
    for (let calls = 0; calls < 3; calls++) breakers.recordOutcome(7103n, true, 14_000)
    expect(admitted()).toEqual([false, true])
    world.clock.advance(20)
    expect(admitted()).toEqual([false, true])
    world.clock.advance(20)
    expect(admitted()).toEqual([true, true])
    breakers.recordOutcome(7103n, true, 14_000)
    expect(admitted()).toEqual([false, true])
    world.deps.calls.breakers.reset(7103n)
    expect(admitted()).toEqual([true, true])
  })

  it('have their pulls interrupted and continued later', async () => {
    seller.on('/product/query', entries)
    for (let calls = 0; calls < 3; calls++) world.deps.calls.breakers.recordOutcome(7001n, true, 14_000)
    await tell(many(5))
    expect(await run()).toMatchObject({ settled: 0, left: true, failure: expect.stringMatching(/^breaker: .*slow/) })
    expect(seller.calls).toEqual([])
    world.clock.advance(60)
    expect(await run()).toMatchObject({ settled: 5, left: false })
  })
})

it('when a run fails, it finishes the call in progress and starts no more', async () => {
  await tell(changed('fails-0', 'fails-1', 'fails-2'))
  seller.on('/product/query', (body) =>
    body.partnerDealIds[0] === 'fails-0' ? entries(body) : slowly(entries(body))(body),
  )
  const onCall = ({ request_body }: { readonly request_body: string }) => {
    if (request_body.includes('fails-0')) throw new Error('broken')
  }
  const deps = { ...world.deps, calls: { ...world.deps.calls, onCall } }
  await expect(pullDue(deps, 7001n, { signal: AbortSignal.timeout(60_000) })).rejects.toThrow('broken')
  const { rows } = await world.pool.query(
    "select partner_deal_id from product where title is not null and partner_deal_id like 'fails%'",
  )
  expect(rows).toEqual([{ partner_deal_id: 'fails-1' }])
  expect(seller.calls).toHaveLength(2)
})

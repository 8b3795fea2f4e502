import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { progressLine } from '../src/operations/cli/report.ts'
import { enqueue, failJobPermanently, listJobs } from '../src/platform/db/jobs-store.ts'
import { parseLossless } from '../src/platform/lib/json/lossless.ts'
import { gatehouse } from './cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from './harness.ts'
import { PRODUCT } from './interfaces/product-example.ts'
import { stands } from './orders/desk.ts'
import { type FakeSeller, fakeSeller, ok, refusal } from './partner-calls/fake-seller.ts'

let world: World
let seller: FakeSeller
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001, { fields: { stage: 'sandbox' } })
})
afterAll(async () => {
  await seller.close()
  await world.close()
})

const run = (...args: string[]) =>
  gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY, PARTNER_ADDRESS_ALLOW: '127.0.0.1' }, ...args)
const runJson = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(...args, '--json')
  const parsed = parseLossless(Buffer.from(stdout))
  return { code, stderr, ...(('value' in parsed ? parsed.value : {}) as object) }
}

const ORDER = '8985652356562370000'
const priced = ['--mt-deal-id', '1', '--unit-price', '10', '--buy-price', '9']
const create = (...args: string[]) =>
  runJson('order', 'create', '--partner-id', '7001', '--partner-deal-id', 'd', '--quantity', '2', ...priced, ...args)

describe('gatehouse order', () => {
  it('takes an order from creation to refund and prints its id exactly', async () => {
    const visitors = ['--visitors', '[{"name":"王芳"}]']
    expect(await create('--order-id', ORDER, ...visitors)).toMatchObject({
      code: 0,
      order: { order_id: BigInt(ORDER), state: 'created' },
    })
    expect(seller.calls[0]?.body).toMatchObject({ orderId: BigInt(ORDER), visitors: [{ name: '王芳' }] })
    const paid = await run('order', 'pay', ORDER)
    expect(paid).toMatchObject({ code: 0, stderr: '' })
    expect(paid.stdout).toMatch(/^order_id +8985652356562370000$/m)
    expect(paid.stdout).toMatch(/^VOUCHER +STATE +QUANTITY .*\n8985652356562370000-1 +unused +1 +0 +0 /m)
    seller.on('/order/query', stands(BigInt(ORDER), 4, { usedQuantity: 1 }))
    expect(await runJson('order', 'query', ORDER)).toMatchObject({ code: 0, order: { used_quantity: 1 } })
    seller.on('/order/refund', refusal(606, 'too few'), ok({}))
    const refused = await run('order', 'refund', ORDER, '--quantity', '1', '--refund-id', 'r-1')
    expect(refused.code).toBe(1)
    expect(refused.stdout).toMatch(
      /The partner refused\.\n\ndetail +606 \(not enough tickets, or refund refused\): too few\ncode +606\n/,
    )
    expect(await runJson('order', 'refund', ORDER)).toMatchObject({ code: 0, order: { state: 'consumed' } })
    const { code, stdout } = await run('order', 'show', ORDER)
    expect(code).toBe(0)
    expect(stdout).toMatch(/call +order +state: paying → paid/)
    // The codes named by a refund are not listed as vouchers again.
    expect(stdout.match(/^vouchers\b.*$/gm)).toEqual(['vouchers'])
    expect(stdout).toMatch(/order-refund +\d+ ms +200 +606 +partner-code: 606/)
    expect((await run('order', 'show', ORDER, '--json')).stdout).toContain('"order_id": 8985652356562370000,')
    expect((await run('order', 'list', '--state', 'consumed')).stdout).toMatch(
      /^ORDER_ID .*\n8985652356562370000 +7001 +sandbox +consumed +1 used, 1 refunded, of 2 +20\.00 /,
    )
  })

  it('lists sandbox orders, live orders, or both', async () => {
    await create('--order-id', '5001')
    await world.pool.query('update ticket_order set sandbox = false where order_id = 5001')
    await create('--order-id', '5002')
    const live = await run('order', 'list', '--live')
    expect(live.stdout).toMatch(/^ORDER_ID .*\n5001 +7001 +live +created .*\n$/)
    const sandbox = await run('order', 'list', '--sandbox')
    expect(sandbox.stdout).toMatch(/^5002 +7001 +sandbox +created /m)
    expect(sandbox.stdout).not.toMatch(/^5001 /m)
    expect((await run('order', 'list')).stdout).toMatch(/^5002 [\s\S]*^5001 /m)
    expect(await run('order', 'list', '--live', '--sandbox')).toMatchObject({
      code: 2,
      stderr: '--live  or --sandbox, not both\n',
    })
  })

  it('closes an unpaid order, after which paying it fails and says why', async () => {
    await create('--order-id', '77')
    expect(await runJson('order', 'close', '77')).toMatchObject({ code: 0, order: { state: 'closed' } })
    expect(await run('order', 'pay', '77')).toMatchObject({
      code: 1,
      stderr: 'order 77 is closed (ended before it was paid); it cannot become paying\n',
    })
  })

  it.each([
    [
      ['order', 'create', '--visitors', 'x'],
      '--partner-id       is required\n--partner-deal-id  is required\n--visitors         must be a list\n',
    ],
    [
      ['order', 'refund', '1', '--quantity', 'x', '--voucher', ''],
      '--quantity  must be a number\n--voucher   "" must not be empty\n',
    ],
    [['order', 'pay'], 'order_id  is required\n'],
    [['job', 'retry', 'x'], 'job_id  must be the id of a job\n'],
    [['job', 'give-up', '1'], '--reason  is required\n'],
    [
      ['product', 'pull-prices', 'd', '--partner-id', '1', '--from', '2026-02-30'],
      '--from  must be a date, yyyy-MM-dd\n',
    ],
  ])('rejects %j with exit code 2', async (args, stderr) => {
    expect(await run(...args)).toEqual({ code: 2, stdout: '', stderr })
  })
})

describe('gatehouse product', () => {
  const of = ['--partner-id', '7001']
  it('pulls, lists and shows products', async () => {
    seller.on(
      '/product/query',
      ok(
        [
          { ...PRODUCT, partnerDealId: 'd-1' },
          { ...PRODUCT, partnerDealId: 'd-2', title: '' },
        ] as object,
        { totalSize: 2 },
      ),
    )
    const pulled = await run('product', 'pull', ...of)
    expect(pulled).toEqual({
      code: 1,
      stderr: '',
      stdout: expect.stringMatching(
        /Not everything could be pulled\. What is stored stays\.\n\nexpected +2\nreceived +2\nrefused +1\npulled +d-1\n[\s\S]*problems\nENTRY +PATH +PROBLEM\nd-2 +title +must not be empty\n$/,
      ),
    })
    expect(await runJson('product', 'pull', 'd-1', ...of)).toMatchObject({ code: 1, pulled: ['d-1'] })
    const prices = { partnerDealId: 'd-1', marketPrice: 12, mtPrice: 10, settlementPrice: 8, stock: -1 }
    seller.on('/product/price/query', ok([{ ...prices, date: '2099-01-01' }] as object))
    const range = ['--from', '2099-01-01', '--to', '2099-01-02']
    expect(await run('product', 'pull-prices', 'd-1', ...of, ...range)).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        /everything is stored\.\n\nfrom +2099-01-01\nto +2099-01-02\npulled +1\nchanged +1\nremoved +0\n/,
      ),
    })
    expect((await run('product', 'list', ...of)).stdout).toMatch(
      /^PARTNER_DEAL_ID .*\nd-1 +\d+ +unknown +20\S+ +Zoo, one adult\n$/,
    )
    const { stdout } = await run('product', 'show', 'd-1', ...of)
    expect(stdout).toMatch(/^2099-01-01 +- +12 +10 +8 +-1$/m)
    expect(stdout).toMatch(/call +product d-1 +prices: – → 2099-01-01 to 2099-01-02: 1 new or changed, 0 removed/)
  })
})

describe('gatehouse job', () => {
  it('lists permanently failed jobs, retries them and gives them up', async () => {
    expect(await run('job', 'list', '--failed')).toMatchObject({ code: 0, stdout: 'no jobs\n' })
    await enqueue(world.deps.db, 'pull-due', {}, { key: 'k' })
    const [job] = await listJobs(world.deps.db, { failed: false, limit: 1 })
    await failJobPermanently(world.deps.db, job?.job_id ?? '', 'what went wrong')
    expect(await runJson('job', 'list', '--failed')).toMatchObject({
      jobs: [{ key: 'k', last_error: 'what went wrong', state: 'failed' }],
    })
    expect(await runJson('job', 'retry', job?.job_id ?? '')).toMatchObject({ code: 0, state: 'waiting', attempts: 0 })
    const gaveUp = await runJson('job', 'give-up', job?.job_id ?? '', '--reason', 'the seller is gone')
    expect(gaveUp).toMatchObject({ code: 0, state: 'failed', last_error: 'given up: the seller is gone' })
    const { rows } = await world.pool.query("select target, detail from audit_event where event = 'job_given_up'")
    expect(rows).toMatchObject([{ target: `job:${job?.job_id}`, detail: { reason: 'the seller is gone' } }])
    const removed = await runJson('job', 'remove', job?.job_id ?? '', '--reason', 'nothing to mend')
    expect(removed).toMatchObject({ code: 0, job_id: job?.job_id, last_error: 'given up: the seller is gone' })
    expect(await runJson('job', 'list')).toMatchObject({ jobs: [] })
    expect(await run('job', 'retry', '999')).toMatchObject({ code: 1, stderr: 'job 999 does not exist\n' })
  })
})

describe('the progress bar', () => {
  it.each([
    [0, 120, '[------------------------------]  0 of 120'],
    [60, 120, '[###############---------------]  60 of 120'],
    [130, 120, '[##############################]  130 of 120'],
    [7, undefined, '7'],
  ])('shows %i of %s', (seen, total, line) => {
    expect(progressLine(seen, total)).toBe(line)
  })
})

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkAcceptance } from '../../src/sandbox/certification/acceptance.ts'
import { showRun } from '../../src/sandbox/certification/run.ts'
import { choice } from '../../src/sandbox/test-plan/choice.ts'
import { updatePartner } from '../../src/ticketing/partners/partner.ts'
import { type Lab, openLab } from '../sandbox/lab.ts'
import { completeStep, orderOf, walk } from '../sandbox/walk.ts'

/** A seller that pushes its changes and offers no product pull: nothing answers at that URL. */
let lab: Lab
beforeAll(async () => {
  lab = await openLab()
  const nowhere = 'http://127.0.0.1:1/product/query'
  await updatePartner(lab.world.deps, lab.partnerId, { interface_urls: { 'product-pull': nowhere } })
})
afterAll(() => lab.close())
beforeEach(() => lab.mistakes())

const MINIMAL = ['pay-at-once', 'refund-at-once']
const PRICES = { unit_price: '45', buy_price: 39.99 }

describe('a partner without product pull', () => {
  it.each([
    ['prices of its own', { functions: MINIMAL, products: { main: 'DEMO-OPEN' }, ...PRICES }],
    ['a price calendar', { functions: [...MINIMAL, 'price-calendar'], products: { main: 'DEMO-BOAT' } }],
    ['a level price calendar', { functions: [...MINIMAL, 'level-price-calendar'], products: { main: 'DEMO-SHOW' } }],
  ])('is certified with %s', async (_name, chosen) => {
    const walked = await walk(lab, chosen)
    expect(walked.failed?.result.failures).toBeUndefined()
    expect(walked.steps).not.toContain('product-pull')
    expect(walked.steps.slice(0, 3)).toEqual(['wrong-signature', 'stale-date', 'unknown-client'])
    expect((await checkAcceptance(lab.world.deps, lab.partnerId, walked.runId)).passed).toBe(true)
    const { rows } = await lab.world.pool.query(
      `select from partner_call where interface = 'product-pull' and order_id is null`,
    )
    expect(rows).toEqual([])
  })

  it('still has its signature check tested, by order query if it offers nothing else', async () => {
    const runId = await lab.run({ functions: MINIMAL, products: { main: 'DEMO-OPEN' }, ...PRICES })
    await lab.mistakes('wrong-signature-accepted')
    const result = await completeStep(lab, runId, 'wrong-signature')
    expect(result.outcome).toBe('failed')
    expect(result.failures).toMatchObject([
      {
        id: 'signature-checked',
        actual: expect.stringMatching(/^accepted a call with a wrong signature \(code 301/),
      },
    ])
    await lab.mistakes()
    expect((await completeStep(lab, runId, 'wrong-signature')).outcome).toBe('passed')
    expect(await orderOf(lab, runId, 'main')).toBe(0n)
  })

  it('does not pass the signature step by refusing every call: that counts as not tested', async () => {
    const runId = await lab.run({
      functions: [...MINIMAL, 'balance-query'],
      products: { main: 'DEMO-OPEN' },
      ...PRICES,
    })
    await lab.mistakes('answer-code-300')
    const result = await completeStep(lab, runId, 'wrong-signature')
    expect(result.outcome).toBe('not_tested')
    expect(result.failures).toMatchObject([{ id: 'code', expected: '200', actual: expect.stringContaining('300') }])
    expect((await showRun(lab.world.deps, lab.partnerId, runId)).current).toMatchObject({ done: false })
    await lab.mistakes()
  })

  it('must state its prices if it has no interface that returns them', () => {
    const problems = (chosen: object) => choice.safeParse(chosen).error?.issues.map(({ path }) => path.join('.')) ?? []
    const products = { main: 'A' }
    expect(problems({ functions: MINIMAL, products })).toEqual(['unit_price', 'buy_price'])
    expect(problems({ functions: MINIMAL, products, unit_price: '1.005', buy_price: -1 })).toEqual([
      'unit_price',
      'buy_price',
    ])
    expect(problems({ functions: MINIMAL, products, ...PRICES })).toEqual([])
    expect(problems({ functions: [...MINIMAL, 'product-pull'], products })).toEqual([])
  })
})

it('accepting an old Date causes a warning that says how old it was', async () => {
  const runId = await lab.run({ functions: MINIMAL, products: { main: 'DEMO-OPEN' }, ...PRICES })
  await lab.world.pool.query(`update sandbox_run set current_step = 'stale-date' where run_id = $1`, [runId])
  await lab.mistakes('stale-date-accepted')
  const result = await completeStep(lab, runId, 'stale-date')
  expect(result.outcome).toBe('passed')
  expect(result.failures).toMatchObject([
    { id: 'date-checked', actual: expect.stringMatching(/^accepted a call with a Date 20 minutes old/) },
  ])
})

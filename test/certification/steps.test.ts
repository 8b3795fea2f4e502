import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { checkAcceptance } from '../../src/sandbox/certification/acceptance.ts'
import { startStep } from '../../src/sandbox/certification/attempt.ts'
import { showRun } from '../../src/sandbox/certification/run.ts'
import { STEPS } from '../../src/sandbox/certification/steps/index.ts'
import { type CheckId, COMMON_CHECKS } from '../../src/sandbox/checks/checks.ts'
import { acceptRun, notificationsOf } from '../../src/sandbox/portal/notify/notifications.ts'
import { showEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { examineReport, findSigningKey, reportOfRun } from '../../src/sandbox/reports/report.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { updatePartner } from '../../src/ticketing/partners/partner.ts'
import { type Lab, openLab, SIMPLE, walkTo } from '../sandbox/lab.ts'
import { completeStep, EVERYTHING, orderOf, walk } from '../sandbox/walk.ts'
import { signedHeaders } from '../signer.ts'
import { until } from '../until.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

/** Steps see decrypted bodies; the traffic pages show them decrypted, marked as encrypted. */
async function showsEncryptedCalls(): Promise<void> {
  const { rows } = await lab.world.pool.query(
    `select call_id, interface, request_headers ->> 'X-Encryption-Status' as sent, response_headers ->> 'gatehouse-body-decrypted' as came
     from partner_call where code = 200`,
  )
  const names = (encrypted: boolean) =>
    new Set(rows.filter(({ sent }) => (sent !== null) === encrypted).map((row) => row.interface))
  const plain = names(false)
  expect(names(true).size).toBe(7)
  for (const name of names(true)) expect(plain).not.toContain(name)
  for (const { sent, came } of rows) expect([sent, came]).toEqual(sent ? ['encrypted', 'yes'] : [null, null])

  const shown = (name: string) =>
    showEntry(lab.world.deps, lab.partnerId, { kind: 'call', id: rows.find((row) => row.interface === name).call_id })
  const create = await shown('order-create')
  expect(create.request.body).toMatchObject({ text: expect.stringContaining('"partnerDealId"'), encrypted: true })
  expect(create.response?.body).toMatchObject({ text: expect.stringContaining('"partnerOrderId"'), encrypted: true })
  expect((await shown('heartbeat')).request.body.encrypted).toBeUndefined()
}

/** Each call names the step that made it, including calls made by the platform's operations. */
async function namesStepOfEachCall(): Promise<void> {
  const { rows } = await lab.world.pool.query(
    `select c.cause, c.cause_ref, a.step_id from partner_call c
     left join (sandbox_event e join sandbox_attempt a using (attempt_id))
       on e.kind = 'call' and e.data ->> 'call_id' = c.call_id::text`,
  )
  expect(new Set(rows.map(({ cause }) => cause))).toEqual(new Set(['step']))
  const linked = rows.filter(({ step_id }) => step_id !== null)
  expect(linked.length).toBeGreaterThan(30)
  for (const { cause, cause_ref, step_id } of linked) expect([cause, cause_ref]).toEqual(['step', step_id])
}

describe('the steps', () => {
  it('have unique ids', () => {
    expect(new Set(STEPS.map(({ id }) => id)).size).toBe(STEPS.length)
  })

  // Calls without encryption are covered by sandbox/headless.test.ts, and for the extra tests by robustness.test.ts.
  it('are all passed by the demo partner with encrypted calls, after which its run is accepted once', async () => {
    const { deps } = lab.world
    await updatePartner(deps, lab.partnerId, { encrypts_calls: true })
    const walked = await walk(lab, EVERYTHING)
    expect([walked.failed, walked.warned]).toEqual([undefined, []])
    expect(walked.steps).toEqual(STEPS.map(({ id }) => id))
    await showsEncryptedCalls()
    await namesStepOfEachCall()
    await updatePartner(deps, lab.partnerId, { encrypts_calls: false })
    const checks = await Promise.all(Array.from({ length: 10 }, () => acceptRun(deps, lab.partnerId, walked.runId)))
    expect(checks.filter(({ justPassed }) => justPassed)).toHaveLength(1)
    expect(checks.every(({ passed }) => passed)).toBe(true)
    const again = { partnerId: lab.partnerId, runId: walked.runId, stepId: STEPS[0]?.id ?? '' }
    await expect(startStep(deps, lab.world.log, again)).rejects.toThrow('has passed')
    const { notifications } = await notificationsOf(deps, walked.runId)
    expect(notifications.map(({ role, channel }) => `${role} ${channel}`).sort()).toEqual([
      'business mail',
      'product mail',
    ])
    const report = await reportOfRun(deps, walked.runId)
    expect(await findSigningKey(deps, report?.content ?? '', report?.signature ?? '')).toBeDefined()
    expect(JSON.parse(report?.content ?? '').steps).toHaveLength(STEPS.length)
  })

  it('include a payment with later issue, which passes with the pay notice and logs it', async () => {
    const chosen = { functions: ['pay-later', 'refund-at-once', 'price-calendar'], products: { main: 'DEMO-CASTLE' } }
    const runId = await lab.run(chosen)
    await walkTo(lab, runId, 'order-pay-later')
    const result = await completeStep(lab, runId, 'order-pay-later')
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
    expect(result.events.filter(({ kind }) => kind === 'notice' || kind === 'rejected')).toMatchObject([
      { kind: 'notice', data: { path: '/mtp/api/order/pay/notice' } },
    ])
    const { order, history } = await showOrder(lab.world.deps, await orderOf(lab, runId, 'main'))
    expect(order).toMatchObject({ state: 'paid', vouchers: [{}, {}] })
    expect(history.find(({ change }) => change.state?.[1] === 'paid')).toMatchObject({ cause: 'notice' })
  })

  it('include a payment with later issue, which passes even after a pay notice that announces the codes for later', async () => {
    const { deps, clock } = lab.world
    const chosen = { functions: ['pay-later', 'refund-at-once', 'price-calendar'], products: { main: 'DEMO-CASTLE' } }
    const runId = await lab.run(chosen)
    await walkTo(lab, runId, 'order-pay-later')
    const orderId = await orderOf(lab, runId, 'main')
    const step = completeStep(lab, runId, 'order-pay-later')
    const paying = await until(async () => {
      const { order } = await showOrder(deps, orderId)
      return order.state === 'paying' && order
    })
    const path = '/mtp/api/order/pay/notice'
    const caller = { clientId: 'lab', partnerId: '7001', clientSecret: lab.secret }
    const body = { orderId: String(orderId), partnerOrderId: paying.partner_order_id, asyReturnVoucher: true }
    const answer = await fetch(lab.url + path, {
      method: 'POST',
      headers: { ...signedHeaders(caller, { path, date: formatHttpDate(clock.now()) }) },
      body: JSON.stringify({ partnerId: 7001, issueType: 1, body }),
    })
    expect(await answer.json()).toMatchObject({ code: 200 })
    expect(await step).toMatchObject({ outcome: 'passed', failures: [] })
  })

  it.each([
    [
      'the smallest choice',
      { functions: ['product-pull', 'pay-at-once', 'refund-at-once'], products: { main: 'DEMO-OPEN' } },
    ],
    [
      'later issue and reviewed refunds',
      {
        functions: ['product-pull', 'pay-later', 'refund-after-review', 'price-calendar'],
        products: { main: 'DEMO-TOWER' },
      },
    ],
    [
      'sessions only',
      {
        functions: ['product-pull', 'pay-at-once', 'refund-at-once', 'level-price-calendar'],
        products: { main: 'DEMO-SHOW' },
      },
    ],
  ])('can all be passed with %s', async (_name, chosen) => {
    const walked = await walk(lab, chosen)
    expect(walked.failed).toBeUndefined()
    expect((await checkAcceptance(lab.world.deps, lab.partnerId, walked.runId)).passed).toBe(true)
  })
  // Types enforce this too; here it is checked on what the attempts above have stored.
  it('make only the checks that they list, and the common ones', async () => {
    const { rows } = await lab.world.pool.query<{ step_id: string; id: CheckId }>(
      `select distinct a.step_id, e.data ->> 'id' as id from sandbox_event e join sandbox_attempt a using (attempt_id)
       where e.kind = 'check'`,
    )
    expect(new Set(rows.map(({ step_id }) => step_id)).size).toBe(STEPS.length)
    const known: readonly CheckId[] = COMMON_CHECKS
    const expectsOf = (stepId: string) => STEPS.find(({ id }) => id === stepId)?.expects ?? {}
    expect(rows.filter(({ step_id, id }) => !known.includes(id) && !(id in expectsOf(step_id)))).toEqual([])
  })
})

describe('the acceptance check', () => {
  it('says what is missing and changes nothing', async () => {
    const runId = await lab.run()
    const found = await checkAcceptance(lab.world.deps, lab.partnerId, runId)
    expect(found).toMatchObject({ passed: false, proof: { consumed: [], refunded: [] } })
    expect(found.openSteps).toContain('consumption')
    expect((await showRun(lab.world.deps, lab.partnerId, runId)).run.passed_at).toBeNull()
  })
})

it('a run with more orders than a report names is accepted, with some of them as evidence', async () => {
  const { deps, pool } = lab.world
  const { runId } = await walk(lab, SIMPLE)
  const copies = [runId, '8000000000000000', 1_001]
  await pool.query(
    `insert into ticket_order select (jsonb_populate_record(o, jsonb_build_object('order_id', $2::bigint + n))).*
     from ticket_order o join sandbox_order s using (order_id), generate_series(1, $3::int) n
     where s.run_id = $1 and s.role = 'consumption'`,
    copies,
  )
  await pool.query(
    `insert into sandbox_order select $2::bigint + n, $1, 'consumption', now() from generate_series(1, $3::int) n`,
    copies,
  )
  expect((await checkAcceptance(deps, lab.partnerId, runId)).passed).toBe(true)
  const { content = '', signature = '' } = (await reportOfRun(deps, runId)) ?? {}
  expect((await examineReport(deps, content, signature)).verdict).toBe('genuine')
  // The form that verifies a report accepts this length.
  expect(content.length).toBeLessThan(32_000)
})

describe('rescheduling an open-date product', () => {
  const chosen = {
    functions: ['product-pull', 'pay-at-once', 'refund-at-once', 'order-reschedule'],
    products: { main: 'DEMO-OPEN' },
  }
  const failure = { id: 'dated-product', expected: 'useDateMode ≥ 1', actual: 'useDateMode 0' }

  it('is reported as impossible as soon as the run has pulled the product', async () => {
    const result = await completeStep(lab, await lab.run(chosen), 'product-pull')
    expect(result).toMatchObject({ outcome: 'failed', failures: [failure] })
  })
})

describe('sandbox orders', () => {
  it('are marked as such, even for a live partner', async () => {
    await lab.world.pool.query(`update partner set stage = 'live'`)
    const runId = await lab.run({
      functions: ['product-pull', 'pay-at-once', 'refund-at-once'],
      products: { main: 'DEMO-OPEN' },
    })
    await walkTo(lab, runId, 'order-create')
    expect((await completeStep(lab, runId, 'order-create')).outcome).toBe('passed')
    expect((await showOrder(lab.world.deps, await orderOf(lab, runId, 'main'))).order.sandbox).toBe(true)
    await lab.world.pool.query(`update partner set stage = 'sandbox'`)
  })
})

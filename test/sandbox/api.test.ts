import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/sandbox/certification/event.ts'
import type { RunReport, runAnswer } from '../../src/sandbox/portal/api/answer.ts'
import { reportOfRun } from '../../src/sandbox/reports/report.ts'
import { NO_CONDITIONS } from '../../src/sandbox/test-plan/conditions.ts'
import { createPartner } from '../../src/ticketing/partners/partner.ts'
import { newPartner } from '../../src/ticketing/partners/wire.ts'
import { MANY_CONNECTIONS } from '../harness.ts'
import { signedHeaders } from '../signer.ts'
import { until } from '../until.ts'
import { type Caller, call, labPartner } from './caller.ts'
import { junitProblems } from './junit.ts'
import { type Lab, openLab, SIMPLE, SIMPLE_STEPS } from './lab.ts'
import { orderOf, walk } from './walk.ts'

let lab: Lab
let stranger: Caller
beforeAll(async () => {
  lab = await openLab({ ...MANY_CONNECTIONS, SANDBOX_WAIT_S: '60', ORDER_ID_BITS: '63' })
  const partner = await createPartner(lab.world.deps, newPartner.parse({ name: 'Stranger', client_id: 'stranger' }))
  stranger = { partnerId: String(partner.partner_id), clientId: 'stranger', clientSecret: partner.client_secret }
})
afterAll(() => lab.close())
beforeEach(() => lab.world.clock.advance(61))

const begin = async (overwrite = true): Promise<string> => {
  const answer = await call(lab, 'POST', '/runs', { partnerId: 7001, overwrite, body: SIMPLE })
  expect(answer).toMatchObject({ status: 200, code: 200, describe: 'success', partnerId: '7001' })
  return (answer.run as ReturnType<typeof runAnswer>).run_id
}
const start = (run: string, step: string, as?: { caller: Caller }) =>
  call(lab, 'POST', `/runs/${run}/steps/${step}/start`, undefined, as)
const next = (run: string, step: string) => call(lab, 'POST', `/runs/${run}/steps/${step}/next`)

/** The events of a run up to the end of the current attempt. */
async function follow(run: string, after = 0): Promise<RunEvent[]> {
  const answer = await call(lab, 'GET', `/runs/${run}/events?after=${after}&wait=20`)
  const events = answer.events as RunEvent[]
  if (events.length === 0) throw new Error(`nothing after ${after}: ${answer.text}`)
  return events.some(({ kind }) => kind === 'ended')
    ? events
    : [...events, ...(await follow(run, Number(answer.last_seq)))]
}

const REFUSED = { status: 200, code: 300, describe: 'BA verification failed' }

describe('a run over the headless API', () => {
  it('is not started for a travel day that is over', async () => {
    const body = { ...SIMPLE, travel_date: '2026-01-01' }
    const answer = await call(lab, 'POST', '/runs', { partnerId: 7001, overwrite: true, body })
    expect(answer).toMatchObject({ code: 300, describe: expect.stringContaining('2026-01-01') })
  })

  it('can be started, followed and moved on', async () => {
    const run = await begin()
    expect(await call(lab, 'GET', '/runs/present')).toMatchObject({
      run: {
        run_id: run,
        current_step: 'product-pull',
        choice: { products: { main: 'DEMO-OPEN' } },
        steps: expect.arrayContaining([
          expect.objectContaining({ id: 'product-pull', name: 'Product pull', state: 'open', current: true }),
        ]),
      },
    })
    const started = await start(run, 'product-pull')
    expect(started).toMatchObject({ code: 200, run_id: run, step_id: 'product-pull' })
    const events = await follow(run)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_event, index) => index + 1))
    expect(events.find(({ kind }) => kind === 'check')).toMatchObject({
      attempt_id: started.attempt_id,
      data: { id: 'reached', text: 'Your system responds', level: 'error', passed: true },
    })
    expect(await next(run, 'product-pull')).toMatchObject({
      code: 200,
      run: {
        current_step: SIMPLE_STEPS[1],
        steps: expect.arrayContaining([expect.objectContaining({ state: 'passed' })]),
      },
    })
    const { runs } = await call(lab, 'GET', '/runs')
    expect((runs as ReturnType<typeof runAnswer>[])[0]).toMatchObject({ run_id: run })
  })

  it('is in Chinese on request', async () => {
    const run = await begin()
    const { text } = await call(lab, 'GET', `/runs/${run}`, undefined, { headers: { 'accept-language': 'zh' } })
    expect(text).toMatch(/"name":"[^"]*[\u4e00-\u9fff]/)
  })

  it('waits for events no longer than requested, and for at most 30 seconds', async () => {
    const run = await begin()
    const before = performance.now()
    expect(await call(lab, 'GET', `/runs/${run}/events?wait=0.5`)).toMatchObject({ code: 200, events: [], last_seq: 0 })
    expect(performance.now() - before).toBeGreaterThan(450)
    expect(performance.now() - before).toBeLessThan(20_000)
    expect(await call(lab, 'GET', `/runs/${run}/events?wait=31`)).toMatchObject({
      code: 300,
      describe: 'wait must be at most 30',
    })
  })

  it('lets 20 requests of a partner wait at once, and refuses more', async () => {
    const run = await begin()
    const refused: Awaited<ReturnType<typeof call>>[] = []
    const waiting = Array.from({ length: 25 }, async () => {
      const answer = await call(lab, 'GET', `/runs/${run}/events?wait=30`)
      if (answer.status === 429) refused.push(answer)
      return answer
    })
    await until(() => refused.length === 5)
    await start(run, 'product-pull') // its first line ends the waits
    const answers = await Promise.all(waiting)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(refused).toHaveLength(5)
    await follow(run)
    expect(refused[0]?.headers.get('retry-after')).toBe('2')
    expect((await call(lab, 'GET', `/runs/${run}/events?wait=0.1`)).status).toBe(200)
  })

  it('frees the place of a request whose caller has left, long before its wait would have ended', async () => {
    const run = await begin()
    const places = new AbortController()
    const before = performance.now()
    let refused = 0
    const waiting = Array.from({ length: 21 }, async () => {
      const { status } = await call(lab, 'GET', `/runs/${run}/events?wait=30`, undefined, { signal: places.signal })
      if (status === 429) refused++
    })
    const ended = Promise.allSettled(waiting)
    await until(() => refused === 1)
    places.abort()
    await ended
    await until(async () => (await call(lab, 'GET', `/runs/${run}/events?wait=0.1`)).status === 200)
    expect(performance.now() - before).toBeLessThan(30_000)
  })

  it('is replaced while it is in progress only when overwrite is set', async () => {
    await begin()
    const present = ((await call(lab, 'GET', '/runs/present')).run as ReturnType<typeof runAnswer>).run_id
    await start(present, 'product-pull')
    await follow(present)
    expect(await call(lab, 'POST', '/runs', { body: SIMPLE })).toMatchObject({
      status: 200,
      code: 300,
      describe: expect.stringMatching(
        new RegExp(`^run ${present} is in progress: 1 of \\d+ steps passed; send "overwrite": true to replace it$`),
      ),
    })
    expect(await begin(true)).not.toBe(present)
    expect(await call(lab, 'GET', `/runs/${present}`)).toMatchObject({ run: { current_step: null } })
  })

  it('is the same run if the request comes again, as after a lost answer, before a step was started', async () => {
    const [run, ...others] = [await begin(), await begin(false), await begin(true)]
    expect(others).toEqual([run, run])
    const body = { ...SIMPLE, quantity: 3 }
    const { run: other } = await call(lab, 'POST', '/runs', { body })
    expect((other as ReturnType<typeof runAnswer>).run_id).not.toBe(run)
  })

  it.each<[string, object | string, string]>([
    ['no choice', {}, 'body is required'],
    ['no product', { body: { functions: ['pay-at-once', 'refund-at-once'] } }, 'body.products is required'],
    [
      'no way to pay',
      { body: { ...SIMPLE, functions: ['refund-at-once'] } },
      'body.functions must have pay-at-once or pay-later',
    ],
    ['invalid JSON', '{', 'HTTP body: not JSON'],
    ['another partner', { partnerId: 1, body: SIMPLE }, 'partnerId does not belong to the clientId of the signature'],
  ])('is not started with %s', async (_name, body, describe) => {
    expect(await call(lab, 'POST', '/runs', body)).toMatchObject({
      status: 200,
      code: 300,
      describe: expect.stringContaining(describe),
    })
  })
})

describe('a run in progress over the headless API', () => {
  it('makes one attempt out of ten simultaneous starts', async () => {
    const run = await begin()
    // So slow that no start arrives after the attempt has ended.
    await lab.mistakes('answer-slow')
    const starts = await Promise.all(Array.from({ length: 10 }, () => start(run, 'product-pull')))
    await lab.mistakes()
    expect(new Set(starts.map(({ attempt_id }) => attempt_id)).size).toBe(1)
    expect(starts.every(({ code }) => code === 200)).toBe(true)
    await begin()
    expect((await follow(run)).find(({ kind }) => kind === 'ended')?.data).toEqual({ outcome: 'interrupted' })
  })

  it('can change its conditions, and the log says so', async () => {
    const run = await begin()
    const set = (body: object) => call(lab, 'POST', `/runs/${run}/conditions`, { body })
    expect(await set({ days_ahead: 3, sends_twice: true })).toMatchObject({
      code: 200,
      run: { run_id: run, choice: { conditions: { days_ahead: 3, sends_twice: true } } },
    })
    await start(run, 'product-pull')
    const faults = (await follow(run)).filter(({ kind }) => kind === 'fault')
    expect(faults.map(({ data }) => data)).toEqual([
      { fault: expect.stringMatching(/^the run is 3 days ahead: /) },
      { fault: expect.stringMatching(/^each call is sent twice; /) },
    ])
    for (const wrong of [{ days_ahead: 31 }, { days_ahead: -1 }, { sends_twice: 'yes' }, { other: 1 }]) {
      expect(await set(wrong), JSON.stringify(wrong)).toMatchObject({ status: 200, code: 300 })
    }
    expect(await set({})).toMatchObject({ run: { choice: { conditions: NO_CONDITIONS } } })
    await begin()
    expect(await set({})).toMatchObject({ code: 300, describe: 'a newer run has replaced this one' })
  })

  it('can be shared by a link, which can be withdrawn', async () => {
    const run = await begin()
    const { share } = await call(lab, 'POST', `/runs/${run}/share`)
    const { url } = share as { url: string }
    const { pathname, search } = new URL(url)
    const opened = () => lab.world.app.inject({ url: pathname + search })
    expect((await opened()).statusCode).toBe(200)
    expect(await call(lab, 'POST', `/runs/${run}/share/withdraw`)).toMatchObject({ code: 200, run: { run_id: run } })
    expect((await opened()).statusCode).toBe(404)
    expect(await call(lab, 'POST', `/runs/${randomUUID()}/share`)).toMatchObject({ status: 404, code: 300 })
  })

  it('does not move on before its step has passed, or from another step', async () => {
    const run = await begin()
    expect(await next(run, 'product-pull')).toMatchObject({
      status: 200,
      code: 300,
      describe: 'the current step has not passed yet',
    })
    await lab.mistakes('answer-missing-field')
    await start(run, 'product-pull')
    await follow(run)
    await lab.mistakes()
    expect(await next(run, 'product-pull')).toMatchObject({ code: 300 })
    for (const step of ['consumption', 'no-such-step', '%00', 'heartbeat']) {
      expect(await start(run, step), step).toMatchObject({
        status: 200,
        code: 300,
        describe: 'the run is not at this step',
      })
      expect(await next(run, step), step).toMatchObject({ code: 300 })
    }
    expect(await call(lab, 'POST', `/runs/${run}/accept`)).toMatchObject({ code: 200, passed: false })
  })
})

describe('access to the headless API', () => {
  it('is refused without the partner’s signature, and reveals nothing', async () => {
    const run = await begin()
    const unsigned = { headers: { Authorization: '' } }
    for (const path of [`/runs/${run}`, '/runs/present', `/runs/${run}/report.xml`, `/runs/${run}/events?wait=30`]) {
      expect(await call(lab, 'GET', path, undefined, unsigned), path).toMatchObject(REFUSED)
    }
    const guess = { caller: { partnerId: '7001', clientId: 'lab', clientSecret: 'guessed' } }
    expect(await call(lab, 'POST', '/runs', '{', guess)).toMatchObject(REFUSED)
    expect(await start(run, 'product-pull', guess)).toMatchObject(REFUSED)
    expect(await call(lab, 'GET', `/runs/${run}`)).toMatchObject({ run: { last_seq: 0 } })
    await lab.world.deps.incoming.rejected.finish()
    const { rows } = await lab.world.pool.query(
      `select reason, headers::text from rejected_call where path = '/sandbox/api/runs'`,
    )
    expect(rows[0]).toMatchObject({ reason: 'the signature does not match: signature-unrecognised' })
  })

  it('is refused with the signature of another path or method', async () => {
    const run = await begin()
    const date = lab.world.clock.now().toUTCString()
    const path = `/sandbox/api/runs/${run}/accept`
    for (const signed of [
      { path, date, method: 'GET' },
      { path: `${path}/`, date, method: 'POST' },
    ]) {
      const { Authorization } = signedHeaders(labPartner(lab), signed)
      expect(await call(lab, 'POST', `/runs/${run}/accept`, undefined, { headers: { Authorization } })).toMatchObject(
        REFUSED,
      )
    }
  })

  it('covers only the partner’s own runs: others look as if they did not exist', async () => {
    const run = await begin()
    const none = { status: 404, code: 300, describe: 'no such run' }
    const as = { caller: stranger }
    const guessed = ['00000000-0000-4000-8000-000000000000', 'x', "' or 1=1", '%00', `${run}0`].map(encodeURIComponent)
    for (const id of [run, ...guessed]) {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/events'],
        ['GET', '/report'],
        ['GET', '/report.xml'],
        ['POST', '/accept'],
        ['POST', '/steps/product-pull/start'],
        ['POST', '/steps/product-pull/next'],
        ['POST', '/steps/product-pull/stop'],
        ['POST', '/start-all'],
      ] as const) {
        expect(await call(lab, method, `/runs/${id}${path}`, undefined, as), id + path).toMatchObject(none)
      }
    }
    expect(await call(lab, 'GET', '/runs', undefined, as)).toMatchObject({
      code: 200,
      standing: { state: 'no_run', run_id: null, accepted_run_id: null },
      runs: [],
    })
    expect(await call(lab, 'GET', '/runs/present', undefined, as)).toMatchObject({
      code: 300,
      describe: 'no test run has been started',
    })
  })

  it('with a wrong method names the right one, and with a wrong path is a 404', async () => {
    const run = await begin()
    const wrong = await call(lab, 'PUT', `/runs/${run}`)
    expect(wrong).toMatchObject({ status: 405, code: 300, describe: 'method not allowed; use GET' })
    expect(wrong.headers.get('allow')).toBe('GET, HEAD')
    expect((await call(lab, 'GET', `/runs/${run}/steps/x/start`)).headers.get('allow')).toBe('POST')
    expect((await call(lab, 'PUT', '/runs')).headers.get('allow')).toBe('GET, HEAD, POST')
    for (const path of ['/run', '', '/runs/a:b/c', '/runs/*/x']) {
      expect(await call(lab, 'GET', path), path).toMatchObject({ status: 404, code: 404, describe: 'no such path' })
    }
  })

  it('is rate limited', async () => {
    // One after the other: the limiter may refuse every call of a burst that exceeds the limit.
    const answers: Awaited<ReturnType<typeof call>>[] = []
    for (let sent = 0; sent < 40; sent++) answers.push(await call(lab, 'POST', '/runs', {}, { caller: stranger }))
    expect(answers.slice(0, 20).every(({ status }) => status === 200)).toBe(true)
    expect(answers.slice(30).every(({ status }) => status === 429)).toBe(true)
    expect(answers.find(({ status }) => status === 429)).toMatchObject({
      code: 300,
      describe: 'too many calls; try again later',
      partnerId: stranger.partnerId,
    })
  })
})

describe('an outage', () => {
  it('is reported as such, in the usual envelope', async () => {
    const broken = lab.world.deps.db.withShareOf('sandbox').maybe
    Object.assign(lab.world.deps.db.withShareOf('sandbox'), { maybe: () => Promise.reject(new Error('for the test')) })
    const answer = await call(lab, 'GET', '/runs/present')
    Object.assign(lab.world.deps.db.withShareOf('sandbox'), { maybe: broken })
    expect(answer).toMatchObject({
      status: 500,
      code: 300,
      describe: 'the platform cannot respond now; try again later',
    })
  })
})

describe('the report', () => {
  it('lists every attempt with its failed checks, and is JUnit on request', async () => {
    const run = await begin()
    await lab.mistakes('answer-scripts', 'answer-missing-field')
    await start(run, 'product-pull')
    const events = await follow(run)
    await lab.mistakes()
    await start(run, 'product-pull')
    await follow(run, events.length)
    const { report } = await call(lab, 'GET', `/runs/${run}/report`)
    expect(report).toMatchObject({
      run_id: run,
      acceptance: { passed: false, consumed: [], refunded: [] },
      signed_report: null,
    })
    const [first, second] = (report as RunReport).steps
    expect(first).toMatchObject({
      id: 'product-pull',
      state: 'passed',
      attempts: [
        {
          outcome: 'failed',
          duration_ms: 0,
          failed_checks: [{ id: 'fields', level: 'error', path: 'body[0].title', actual: 'missing' }],
        },
        { outcome: 'passed', failed_checks: [] },
      ],
    })
    expect(second).toMatchObject({ state: 'open', attempts: [] })
    const xml = await call(lab, 'GET', `/runs/${run}/report.xml`)
    expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    expect(await junitProblems(xml.text)).toEqual([])
    expect(xml.text).toContain('body[0].title is required')
    const onRequest = await call(lab, 'GET', `/runs/${run}/report`, undefined, {
      headers: { accept: 'application/xml' },
    })
    expect(onRequest.text).toBe(xml.text)
  })

  it('of an accepted run includes the signed report and exact order ids', async () => {
    const { runId, failed } = await walk(lab, SIMPLE)
    expect(failed).toBeUndefined()
    const orderId = await orderOf(lab, runId, 'consumption')
    const accepts = await Promise.all(Array.from({ length: 10 }, () => call(lab, 'POST', `/runs/${runId}/accept`)))
    for (const accepted of accepts) {
      expect(accepted).toMatchObject({ code: 200, passed: true, open_steps: [], consumed: [orderId] })
    }
    expect(accepts[0]?.text).toContain(`"consumed":[${orderId}]`)
    const standing = async () => (await call(lab, 'GET', '/runs')).standing
    expect(await standing()).toEqual({ state: 'accepted', run_id: runId, accepted_run_id: runId })
    const later = await begin(false)
    expect(await standing()).toEqual({ state: 'under_way', run_id: later, accepted_run_id: runId })
    expect(await call(lab, 'GET', `/runs/${runId}`)).toMatchObject({ run: { state: 'accepted', current_step: null } })
    const stored = await reportOfRun(lab.world.deps, runId)
    const { report } = await call(lab, 'GET', `/runs/${runId}/report`)
    expect((report as RunReport).signed_report).toEqual({
      url: `${lab.world.deps.config.PUBLIC_URL}/sandbox/verify/${stored?.report_id}`,
      ...{ content: stored?.content, signature: stored?.signature, key_id: stored?.key_id },
    })
  })
})

describe('the details of a failed check', () => {
  it('are in the requested language, English by default; older events keep their stored text', async () => {
    const runId = await lab.run()
    await lab.mistakes('answer-missing-field')
    await lab.runStep(runId, 'product-pull')
    await lab.mistakes()
    const detailsFor = async (language?: string) => {
      const headers = language ? { 'accept-language': language } : {}
      const { events } = await call(lab, 'GET', `/runs/${runId}/events`, undefined, { headers })
      return (events as { kind: string; data: Record<string, unknown> }[])
        .filter(({ kind, data }) => kind === 'check' && data.passed === false)
        .map(({ data: { expected, actual } }) => ({ expected, actual }))
    }
    expect(await detailsFor()).toEqual([{ expected: 'is required', actual: 'missing' }])
    expect(await detailsFor('zh-CN')).toEqual([{ expected: '必填', actual: '缺失' }])
    const xml = await call(lab, 'GET', `/runs/${runId}/report.xml`, undefined, { headers: { 'accept-language': 'zh' } })
    expect(xml.text).toContain('必填')
    const old = '{"expected": "is required", "actual": "missing"}'
    await lab.world.pool.query(
      `update sandbox_event set data = data || $2::jsonb where run_id = $1 and data->>'passed' = 'false'`,
      [runId, old],
    )
    expect(await detailsFor('zh-CN')).toEqual([{ expected: 'is required', actual: 'missing' }])
  })
})

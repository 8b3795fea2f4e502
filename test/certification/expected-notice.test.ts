import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseLossless } from '../../src/platform/lib/json/lossless.ts'
import { nextStep, showRun } from '../../src/sandbox/certification/run.ts'
import { call } from '../sandbox/caller.ts'
import { type Lab, openLab, walkTo } from '../sandbox/lab.ts'
import { type Visitor, visitor } from '../sandbox/pages/visitor.ts'
import { completeStep } from '../sandbox/walk.ts'
import { until } from '../until.ts'

/** The example of the awaited notice that the page and the API offer, and how a wait is stopped. */

let lab: Lab
let me: Visitor
beforeAll(async () => {
  lab = await openLab()
  me = await visitor(lab)
})
afterAll(() => lab.close())

const CHOICE = {
  functions: ['product-pull', 'price-calendar', 'product-change', 'pay-at-once', 'refund-after-review'],
  products: { main: 'DEMO-BOAT', review: 'DEMO-TOWER' },
}

/** Sends the example of the awaited notice unchanged. */
async function sendAsShown(runId: string): Promise<void> {
  const ticking = setInterval(() => lab.world.clock.advance(1), 500)
  const { path, notice = '' } = await lab.awaited(runId).finally(() => clearInterval(ticking))
  const page = await me.open(`/sandbox/run/${runId}`)
  expect(page.body).toMatch(/<dt><code>(partnerDealId|orderId)<\/code><\/dt>/)
  expect(page.body).not.toContain('<dt><code>status</code></dt>') // any status will do
  const parsed = parseLossless(Buffer.from(notice))
  expect(await lab.send(path, 'value' in parsed ? (parsed.value as object) : {})).toMatchObject({ code: 200 })
}

describe('the example of the awaited notice', () => {
  it('passes every step that waits for a notice when it is sent unchanged', async () => {
    const runId = await lab.run(CHOICE)
    const sent: string[] = []
    for (;;) {
      const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
      if (!current) break
      const { id, kind } = current.step
      const result =
        kind === 'notice' ? await lab.runStep(runId, id, () => sendAsShown(runId)) : await completeStep(lab, runId, id)
      expect(result, id).toMatchObject({ outcome: 'passed', failures: [] })
      if (kind === 'notice') sent.push(id)
      await nextStep(lab.world.deps, lab.partnerId, runId, id)
    }
    expect(sent).toEqual(['product-change', 'consumption', 'refund-notice'])
  })
})

/** A run that waits at its consumption step. */
async function waitingRun(): Promise<string> {
  const runId = await lab.run()
  await walkTo(lab, runId, 'consumption')
  lab.world.clock.advance(1)
  await me.send(`/sandbox/run/${runId}/steps/consumption/start`)
  await lab.awaited(runId)
  return runId
}

const consumptionStep = async (runId: string) =>
  (await showRun(lab.world.deps, lab.partnerId, runId)).steps.find(({ step }) => step.id === 'consumption')

describe('a wait', () => {
  it('shows the notice and a cURL script that signs it and passes the step; neither holds the secret', async () => {
    const runId = await waitingRun()
    const { about, notice = '' } = await lab.awaited(runId)
    const { body } = await me.open(`/sandbox/run/${runId}`)
    expect(body).toContain(`&quot;orderId&quot;: ${about.orderId}`)
    expect(about.partnerOrderId).toBeTruthy()
    expect(body).toContain(about.partnerOrderId)
    const { events, text } = await call(lab, 'GET', `/runs/${runId}/events`)
    const waiting = (events as { kind: string; data: { notice: string; curl: string } }[]).find(
      ({ kind }) => kind === 'waiting',
    )?.data
    expect(waiting?.notice).toBe(notice)
    for (const shown of [body, text]) expect(shown).not.toContain(lab.secret)
    // The lab listens on another address, and its clock stands still.
    const script = String(waiting?.curl)
      .replaceAll(lab.world.deps.config.PARTNER_URL, lab.url)
      .replace(/^DATE=.*$/m, `DATE='${lab.world.clock.now().toUTCString()}'`)
    const env = { PATH: process.env.PATH, CLIENT_SECRET: lab.secret }
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { env })
    expect(stdout).toContain('"code":200')
    await until(async () => (await consumptionStep(runId))?.state === 'passed')
  })

  it('can be stopped by a form, which interrupts the step at once; a second click is harmless', async () => {
    const runId = await waitingRun()
    const stop = `/sandbox/run/${runId}/steps/consumption/stop`
    expect((await me.open(`/sandbox/run/${runId}`)).body).toContain(`action="${stop}"`)
    expect((await me.send(stop)).statusCode).toBe(303)
    expect(await consumptionStep(runId)).toMatchObject({ state: 'interrupted', running: false })
    const { body } = await me.open(String((await me.send(stop)).headers.location))
    expect(body).toContain('You stopped waiting')
    expect(body).not.toContain('role="alert"')
    expect((await me.send(`/sandbox/run/${runId}/steps/nothing/stop`)).statusCode).toBe(404)
    // Nothing keeps running in the background, and the step can be run again.
    await until(() => lab.world.deps.runningAttempts.size === 0)
    expect((await consumptionStep(runId))?.attempts).toHaveLength(1)
    expect((await completeStep(lab, runId, 'consumption')).outcome).toBe('passed')
  })

  it('can be stopped over the headless API', async () => {
    const runId = await waitingRun()
    const answer = await call(lab, 'POST', '/runs/present/steps/consumption/stop')
    expect(answer).toMatchObject({ code: 200, run: { run_id: runId } })
    expect(await consumptionStep(runId)).toMatchObject({ state: 'interrupted', running: false })
    const { events } = await call(lab, 'GET', `/runs/${runId}/events?after=0`)
    expect((events as object[]).at(-1)).toMatchObject({
      kind: 'ended',
      data: { outcome: 'interrupted', stopped: true },
    })
    expect(await call(lab, 'POST', '/runs/present/steps/nothing/stop')).toMatchObject({ code: 300 })
  })
})

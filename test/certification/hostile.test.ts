import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startStep } from '../../src/sandbox/certification/attempt.ts'
import { eventsOfAttempt } from '../../src/sandbox/certification/attempt-store.ts'
import { showRun } from '../../src/sandbox/certification/run.ts'
import { showEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { updatePartner } from '../../src/ticketing/partners/partner.ts'
import { type Lab, openLab, type StepResult } from '../sandbox/lab.ts'

/** A partner with malicious answers. */

let lab: Lab
let server: Server
let answer = ''
beforeAll(async () => {
  lab = await openLab()
  server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.setHeader('Content-Type', 'application/json').end(answer))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const all = ['product-pull', 'poi-pull', 'price-calendar', 'heartbeat']
  await updatePartner(lab.world.deps, lab.partnerId, {
    interface_urls: Object.fromEntries(
      all.map((name) => [name, `${url}/${name}?key=${encodeURIComponent(lab.secret)}`]),
    ),
  })
})
afterAll(async () => {
  await lab.close()
  server.close()
})

const runWithAnswer = async (functions: readonly string[], stepId: string, text: string): Promise<StepResult> => {
  const runId = await lab.run({
    functions: ['product-pull', 'pay-at-once', 'refund-at-once', ...functions],
    products: { main: 'DEMO-OPEN' },
  })
  await lab.world.pool.query('update sandbox_run set current_step = $2 where run_id = $1', [runId, stepId])
  answer = text
  return lab.runStep(runId, stepId)
}

const DAY = { date: '2026-01-01', marketPrice: 100, mtPrice: 90, settlementPrice: 80, stock: 5 }

describe('the log of a step', () => {
  it.each([
    ['not JSON', `${'<'.repeat(119)}😀`],
    [
      'a field',
      JSON.stringify({ code: 200, describe: 'ok', body: [{ partnerDealId: { a: `${'x'.repeat(113)}😀` } }] }),
    ],
  ])('survives an excerpt that ends in the middle of a surrogate pair: %s', async (_name, text) => {
    expect((await runWithAnswer([], 'product-pull', text)).outcome).toBe('failed')
  })

  it('does not contain a secret that the partner echoes', async () => {
    const body = [{ ...DAY, partnerDealId: lab.secret }]
    const result = await runWithAnswer(
      ['price-calendar'],
      'price-calendar',
      JSON.stringify({ code: 200, describe: 'ok', body }),
    )
    expect(result.failures.map(({ id }) => id)).toContain('product-found')
    expect(JSON.stringify(result.events)).not.toContain(lab.secret)
    // Nor the secret that the partner put into its URLs.
    expect(JSON.stringify(result.events)).not.toContain(encodeURIComponent(lab.secret))
  })

  it('does not grow with the size of the answer', async () => {
    const many = Array.from({ length: 3_000 }, () => ({ ...DAY, partnerDealId: 'another' }))
    const long = [{ ...DAY, partnerDealId: 'x'.repeat(200_000) }]
    for (const body of [many, long]) {
      const text = JSON.stringify({ code: 200, describe: 'ok', body })
      const result = await runWithAnswer(['price-calendar'], 'price-calendar', text)
      expect(result.outcome).toBe('failed')
      expect(result.events.length).toBeLessThan(50)
      expect(JSON.stringify(result.events).length).toBeLessThan(20_000)
    }
  })
})

describe('a megabyte of wrong fields', () => {
  it('is reported as fewer than 100 problems', async () => {
    const text = `{"code":200,"describe":"ok","body":[${'0,'.repeat(400_000)}0]}`
    const result = await runWithAnswer([], 'product-pull', text)
    expect(result.outcome).toBe('failed')
    const [id = ''] = result.events.flatMap(({ kind, data }) => (kind === 'call' ? [data.call_id] : []))
    const { problems } = await showEntry(lab.world.deps, lab.partnerId, { kind: 'call', id })
    expect(problems.length).toBeLessThan(100)
  })
})

describe('a URL that leads nowhere', () => {
  const reachedAt = async (url: string) => {
    const { deps, log } = lab.world
    const runId = await lab.run()
    await updatePartner(deps, lab.partnerId, { interface_urls: { 'product-pull': url } })
    const production = { ...deps, config: { ...deps.config, NODE_ENV: 'production' as const } }
    const step = { partnerId: lab.partnerId, runId, stepId: 'product-pull' }
    const attemptId = await startStep(production, log, step)
    for (;;) {
      const events = await eventsOfAttempt(deps.db, attemptId)
      if (events.at(-1)?.kind === 'ended') return events.flatMap(({ kind, data }) => (kind === 'check' ? [data] : []))
    }
  }

  it('gets the same finding in production whether its address is blocked, refuses or is unknown', async () => {
    const blocked = await reachedAt('http://10.1.2.3/')
    const refused = await reachedAt('http://127.0.0.1:1/')
    const unknown = await reachedAt('http://nowhere.invalid/')
    expect(blocked[0]).toMatchObject({ id: 'reached', passed: false })
    expect(refused).toEqual(blocked)
    expect(unknown).toEqual(blocked)
  })
})

describe('a step that is started again and again', () => {
  it('runs at most 120 times a minute', async () => {
    const { deps, log } = lab.world
    // In a fresh minute, because earlier tests have started steps too.
    lab.world.clock.advance(120)
    const runId = await lab.run()
    const start = () => startStep(deps, log, { partnerId: lab.partnerId, runId, stepId: 'product-pull' })
    const over = 'update sandbox_run set open_attempt = null where run_id = $1'
    const ended = `update sandbox_attempt set ended_at = started_at, outcome = 'failed' where run_id = $1 and ended_at is null`
    for (let started = 0; started < 120; started++) {
      await start()
      await lab.world.pool.query(over, [runId])
      await lab.world.pool.query(ended, [runId])
    }
    await expect(start()).rejects.toMatchObject({ rescode: 20003, failure: { status: 429 } })
    lab.world.clock.advance(60)
    expect((await showRun(deps, lab.partnerId, runId)).current?.attempts).toHaveLength(120)
    await start()
  })
})

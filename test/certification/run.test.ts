import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { localized } from '../../src/platform/lib/localized-text.ts'
import { RefusedRequest } from '../../src/platform/lib/web/rescode.ts'
import { checkAcceptance } from '../../src/sandbox/certification/acceptance.ts'
import { startStep } from '../../src/sandbox/certification/attempt.ts'
import type { Attempt } from '../../src/sandbox/certification/attempt-log.ts'
import {
  appendEvent,
  attemptsOf,
  endAttempt,
  eventsAfter,
  eventsOfAttempt,
  failedChecksOf,
  findAttempt,
  insertAttempt,
  logReferences,
} from '../../src/sandbox/certification/attempt-store.ts'
import type { Waiting } from '../../src/sandbox/certification/event.ts'
import { currentRun, nextStep, showRun, startRun } from '../../src/sandbox/certification/run.ts'
import { listRuns } from '../../src/sandbox/certification/run-progress.ts'
import { stepContext } from '../../src/sandbox/certification/step-context.ts'
import { STEPS } from '../../src/sandbox/certification/steps/index.ts'
import type { Step } from '../../src/sandbox/certification/steps/step.ts'
import { waitingIn } from '../../src/sandbox/portal/pages/waiting.ts'
import { existingPartner } from '../../src/ticketing/partner-calls/index.ts'
import { BREAKER } from '../../src/ticketing/partner-reach/index.ts'
import { MANY_CONNECTIONS } from '../harness.ts'
import { type Lab, openLab, SIMPLE_STEPS, simpleChoice, walkTo } from '../sandbox/lab.ts'
import { newSandboxPartner } from '../sandbox/partners.ts'
import { orderOf, useTickets } from '../sandbox/walk.ts'
import { signatureOf } from '../signer.ts'
import { until } from '../until.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab(MANY_CONNECTIONS)
})
afterAll(() => lab.close())

const consume = (runId: string) => useTickets(lab, runId)
/** Whether a step is running and has logged an event. */
const isRunning = async (runId: string): Promise<boolean> => {
  const last = (await eventsAfter(lab.world.deps.db, runId, 0)).at(-1)
  return last !== undefined && last.kind !== 'ended'
}

describe('a test run', () => {
  it('proceeds step by step, and leaves proof of the consumption', async () => {
    const { deps } = lab.world
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const result = await lab.runStep(runId, 'consumption', () => consume(runId))
    expect(result.failures).toEqual([])
    expect(result.outcome).toBe('passed')
    expect(result.events.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['started', 'waiting', 'notice', 'check', 'ended']),
    )
    const waiting = result.events.find(({ kind }) => kind === 'waiting')?.data as Waiting
    expect(waiting.path).toBe('/mtp/api/order/consume/notice')
    const { run, steps } = await showRun(deps, lab.partnerId, runId)
    const passed = steps.flatMap(({ step, state }) => (state === 'passed' ? [step.id] : []))
    expect(passed).toEqual(steps.slice(0, passed.length).map(({ step }) => step.id))
    expect(passed.at(-1)).toBe('consumption')
    expect(run.passed_at).toBeNull()
    expect((await checkAcceptance(deps, lab.partnerId, runId)).proof.consumed).toHaveLength(1)
  })

  it('is deleted when 1,000 newer ones have been started, unless it was accepted', async () => {
    const { deps, pool } = lab.world
    const { partner_id } = await newSandboxPartner(lab.world)
    await pool.query(
      `insert into sandbox_run (run_id, partner_id, number, choice, steps, created_at, superseded_at, passed_at)
       select gen_random_uuid(), $1, n, $2, '{product-pull}', now(), now(), case when n = 2 then now() end
       from generate_series(1, 1003) n`,
      [partner_id, simpleChoice()],
    )
    const oldest = async () =>
      (await pool.query('select number from sandbox_run where partner_id = $1 order by number limit 2', [partner_id]))
        .rows
    await startRun(deps, partner_id, simpleChoice())
    expect(await oldest()).toEqual([{ number: 2 }, { number: 5 }])
    await startRun(deps, partner_id, simpleChoice())
    expect(await oldest()).toEqual([{ number: 2 }, { number: 6 }])
  })

  it('takes 500 attempts of a step, and refuses the next one without a trace', async () => {
    const { deps, pool, log } = lab.world
    const runId = await lab.run()
    const stepId = 'product-pull'
    await pool.query(
      `insert into sandbox_attempt (attempt_id, run_id, step_id, number, started_at, alive_till, ended_at, outcome)
       select gen_random_uuid(), $1, $2, n, now(), now(), now(), 'failed' from generate_series(1, 499) n`,
      [runId, stepId],
    )
    const ref = { partnerId: lab.partnerId, runId, stepId }
    await lab.runStep(runId, stepId)
    await expect(startStep(deps, log, ref)).rejects.toMatchObject({ reason: 'too_many_attempts' })
    const { rows } = await pool.query('select open_attempt from sandbox_run where run_id = $1', [runId])
    expect(rows).toEqual([{ open_attempt: null }])
    expect(await attemptsOf(deps.db, runId)).toHaveLength(500)
  })

  it('reports at most the newest 5,000 of its failed checks', async () => {
    const { deps, pool } = lab.world
    const runId = await lab.run()
    await lab.runStep(runId, 'product-pull')
    await pool.query(
      `insert into sandbox_event (run_id, seq, attempt_id, at, kind, data)
       select run_id, 10000 + n, attempt_id, now(), 'check',
         jsonb_build_object('id', 'fields', 'passed', false, 'path', n::text)
       from sandbox_attempt, generate_series(1, 5001) n where run_id = $1`,
      [runId],
    )
    const checks = await failedChecksOf(deps.db, runId)
    expect(checks).toHaveLength(5_000)
    expect([checks[0]?.data.path, checks.at(-1)?.data.path]).toEqual(['2', '5001'])
  })

  it('numbers its events from 1 without gaps, wherever reading starts', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'stale-date')
    const all = await lab.world.deps.logFollowers.nextEvents(runId, 0, new AbortController().signal, 1_000)
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_event, index) => index + 1))
    const rest = await lab.world.deps.logFollowers.nextEvents(runId, 5, new AbortController().signal, 1_000)
    expect(rest).toEqual(all.slice(5))
  })

  it('moves on only from the current step, and only once that has passed', async () => {
    const { deps } = lab.world
    const runId = await lab.run()
    const next = (step: string) => nextStep(deps, lab.partnerId, runId, step)
    await expect(next('product-pull')).rejects.toThrow('has not passed')
    await expect(next('wrong-signature')).rejects.toThrow('not at this step')
    await lab.mistakes('answer-missing-field')
    expect((await lab.runStep(runId, 'product-pull')).outcome).toBe('failed')
    await expect(next('product-pull')).rejects.toThrow('has not passed')
    await lab.mistakes()
    expect((await lab.runStep(runId, 'product-pull')).outcome).toBe('passed')
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => next('product-pull')))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await currentRun(deps, lab.partnerId)).current_step).toBe(SIMPLE_STEPS[1])
  })

  it('keeps the steps it began with when a step is added later', async () => {
    const { deps } = lab.world
    const runId = await lab.run()
    const idsOf = async (id: string) => (await showRun(deps, lab.partnerId, id)).steps.map(({ step }) => step.id)
    const before = await idsOf(runId)
    const steps = STEPS as Step[]
    const [first] = steps.filter(({ id }) => id === before[0])
    steps.unshift({ ...(first as Step), id: 'added' })
    onTestFinished(() => {
      steps.shift()
    })
    expect(await idsOf(runId)).toEqual(before)
    expect((await checkAcceptance(deps, lab.partnerId, runId)).openSteps).toEqual(before)
    expect(await idsOf(await lab.run())).toEqual(['added', ...before])
  })

  it('names a missing field and where it is documented', async () => {
    const runId = await lab.run()
    await lab.mistakes('answer-missing-field')
    const { failures } = await lab.runStep(runId, 'product-pull')
    await lab.mistakes()
    expect(failures[0]).toMatchObject({
      id: 'fields',
      path: 'body[0].title',
      actual: 'missing',
      doc: 'product-pull.answer.body.title',
    })
  })

  it('makes one attempt out of many simultaneous starts', async () => {
    const { deps, log } = lab.world
    const runId = await lab.run()
    const start = () => startStep(deps, log, { partnerId: lab.partnerId, runId, stepId: 'product-pull' })
    await lab.mistakes('answer-slow') // otherwise the attempt might end before the last start
    const ids = await Promise.all(Array.from({ length: 20 }, start))
    expect(new Set(ids).size).toBe(1)
    await sleep(500)
    expect(await attemptsOf(deps.db, runId)).toHaveLength(1)
    await lab.mistakes()
    await lab.run() // ends the attempt
  })

  it('cannot be shown, started or moved on by another partner', async () => {
    const { deps, log } = lab.world
    const runId = await lab.run()
    const other = 9999n
    await expect(showRun(deps, other, runId)).rejects.toThrow('no such run')
    await expect(nextStep(deps, other, runId, 'product-pull')).rejects.toThrow('no such run')
    await expect(startStep(deps, log, { partnerId: other, runId, stepId: 'product-pull' })).rejects.toThrow(
      'no such run',
    )
  })
})

describe('a running step', () => {
  it('is interrupted when a new run starts, and does not write into that run', async () => {
    const { deps } = lab.world
    const runId = await lab.run()
    await lab.mistakes('answer-slow')
    const attempt = lab.runStep(runId, 'product-pull')
    await until(() => isRunning(runId))
    const second = await startRun(deps, lab.partnerId, simpleChoice())
    expect((await attempt).outcome).toBe('interrupted')
    await lab.mistakes()
    expect((await showRun(deps, lab.partnerId, second.run_id)).steps[0]?.state).toBe('open')
    expect((await listRuns(deps, lab.partnerId)).map(({ run }) => run.run_id).slice(0, 2)).toEqual([
      second.run_id,
      runId,
    ])
    await expect(nextStep(deps, lab.partnerId, runId, 'product-pull')).rejects.toThrow('newer run')
  })

  it('must end before acceptance can be checked', async () => {
    const runId = await lab.run()
    await lab.mistakes('answer-slow')
    const attempt = lab.runStep(runId, 'product-pull')
    await until(() => isRunning(runId))
    await expect(checkAcceptance(lab.world.deps, lab.partnerId, runId)).rejects.toThrow('still running')
    await lab.mistakes()
    await lab.run()
    expect((await attempt).outcome).toBe('interrupted')
  })

  it('is interrupted when its process stops, and can be started again', async () => {
    const { deps } = lab.world
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const attempt = lab.runStep(runId, 'consumption')
    await until(() => isRunning(runId))
    await deps.runningAttempts.close()
    expect((await attempt).outcome).toBe('interrupted')
    // Nobody would interrupt an attempt that begins now, such as the next one of a run through all steps.
    const ref = { partnerId: lab.partnerId, runId, stepId: 'consumption' }
    await expect(startStep(deps, lab.world.log, ref)).rejects.toMatchObject({ rescode: 20013 })
    // The process begins to stop while the attempt begins.
    let reads = 0
    Object.defineProperty(deps.runningAttempts, 'isClosed', { configurable: true, get: () => reads++ > 0 })
    const begun = await startStep(deps, lab.world.log, ref)
    expect((await findAttempt(deps.db, begun))?.outcome).toBe('interrupted')
    Object.defineProperty(deps.runningAttempts, 'isClosed', { value: false, writable: true })
    expect((await lab.runStep(runId, 'consumption', () => consume(runId))).outcome).toBe('passed')
  })

  it('logs nothing after its last event, even when writes race with the end', async () => {
    const { deps } = lab.world
    const runId = await lab.run()
    for (let round = 1; round <= 20; round++) {
      const attemptId = randomUUID()
      const now = deps.clock.now()
      await insertAttempt(deps.db, { attemptId, runId, stepId: 'product-pull' }, now)
      const line = { kind: 'check', data: { id: 'json', passed: true } } as const
      const lines = () => Array.from({ length: 10 }, () => appendEvent(deps.db, attemptId, line, now))
      await Promise.all([...lines(), endAttempt(deps.db, attemptId, { outcome: 'failed' }, now), ...lines()])
      const events = await eventsOfAttempt(deps.db, attemptId)
      expect(events.filter(({ kind }) => kind === 'ended')).toHaveLength(1)
      expect(events.at(-1)?.kind).toBe('ended')
    }
  })

  it('counts as interrupted when its process has died', async () => {
    const { deps, clock, pool } = lab.world
    const runId = await lab.run()
    // What a killed process leaves behind: an open attempt that nobody works on.
    await pool.query(
      `with run as (update sandbox_run set open_attempt = '00000000-0000-4000-8000-000000000001' where run_id = $1)
       insert into sandbox_attempt (attempt_id, run_id, step_id, number, started_at, alive_till)
       values ('00000000-0000-4000-8000-000000000001', $1, 'product-pull', 1, $2, now() + interval '1 hour')`,
      [runId, clock.now()],
    )
    clock.advance(7_200) // of this process: the database's clock decides
    expect((await showRun(deps, lab.partnerId, runId)).current?.running).toBe(true)
    await pool.query("update sandbox_attempt set alive_till = now() - interval '1 second' where run_id = $1", [runId])
    expect((await showRun(deps, lab.partnerId, runId)).current?.state).toBe('interrupted')
    expect((await lab.runStep(runId, 'product-pull')).outcome).toBe('passed')
  })

  it('is not ended by forged or replayed notices', async () => {
    const { clock } = lab.world
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const path = '/mtp/api/order/consume/notice'
    const forge = (date: string, secret: string) =>
      fetch(lab.url + path, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          PartnerId: String(lab.partnerId),
          Date: date,
          Authorization: `MWS lab:${signatureOf({ path, date, secret })}`,
        },
        body: '{"body":{}}',
      })
    const result = await lab.runStep(runId, 'consumption', async () => {
      await forge(clock.now().toUTCString(), 'a guess')
      // Replays headers that were seen an hour ago: the signature does not cover the body.
      await forge(new Date(clock.now().getTime() - 3_600_000).toUTCString(), lab.secret)
      await lab.world.deps.incoming.rejected.finish()
      clock.advance(1) // at the same moment, the accepted notice would be read first and end the step
      await consume(runId)
    })
    expect(result.events.filter(({ kind }) => kind === 'unverified')).toHaveLength(2)
    expect(result.failures).toEqual([])
    expect(result.outcome).toBe('passed')
  })

  it.each([
    [
      'a call to a wrong path',
      'POST',
      '/mtp/api/order/consume',
      'no such path; the nearest path is POST /mtp/api/order/consume/notice',
    ],
    ['a call with a wrong method', 'GET', '/mtp/api/order/consume/notice', 'method not allowed: GET; use POST'],
  ])('reports %s and keeps waiting', async (_what, method, path, reason) => {
    const { clock, deps } = lab.world
    const runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
    const result = await lab.runStep(runId, 'consumption', async () => {
      const date = clock.now().toUTCString()
      const headers = {
        Date: date,
        Authorization: `MWS lab:${signatureOf({ path, date, method, secret: lab.secret })}`,
      }
      await fetch(lab.url + path, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) })
      const reported = async () => {
        const { current } = await showRun(deps, lab.partnerId, runId)
        const events = await eventsOfAttempt(deps.db, String(current?.attempts.at(-1)?.attempt_id))
        return events.some(({ kind }) => kind === 'wrong-path') ? events : undefined
      }
      const events = await until(reported)
      const waiting = await waitingIn(deps, lab.partnerId, events, null)
      expect(waiting?.path).toBe('/mtp/api/order/consume/notice')
      await consume(runId)
    })
    const line = result.events.find(({ kind }) => kind === 'wrong-path')
    expect(line?.data).toMatchObject({ path, reason })
    // The order's timeline leads to this line.
    const { call_id } = (line?.data ?? {}) as { call_id: string }
    const orderId = await orderOf(lab, runId, 'consumption')
    const found = await logReferences(deps.db, { partnerId: lab.partnerId, orderId, ids: [call_id] })
    expect(found).toMatchObject([{ id: call_id, step_id: 'consumption' }])
    expect(result.failures).toEqual([])
    expect(result.outcome).toBe('passed')
  })
})

describe('the circuit breaker of a partner', () => {
  it.each([
    ['is closed by Start in the sandbox', 'sandbox', true],
    ['stays open for a live partner, since real customers must not wait for it', 'live', false],
  ] as const)('%s', async (_what, stage, expected) => {
    const { deps } = lab.world
    const { breakers } = deps.calls
    const partner = { ...(await existingPartner(deps, lab.partnerId)), stage }
    for (let failures = 0; failures < BREAKER.failures; failures++) breakers.recordOutcome(lab.partnerId, false, 1)
    stepContext({ deps, partner } as unknown as Attempt)
    expect(breakers.allowsCall(lab.partnerId, false) === true).toBe(expected)
    breakers.reset(lab.partnerId)
  })
})

it('a step that the platform refused has not passed, although the refusal could not be logged', async () => {
  const { deps, log } = lab.world
  const runId = await lab.run()
  let checks = 0
  const exec = async (statement: Parameters<typeof deps.db.exec>[0]) => {
    const text = String(statement.values)
    if (text.includes('"id":"platform"')) throw new Error('canceling statement due to statement timeout')
    if (text.includes('"passed":true') && ++checks > 2) throw new RefusedRequest(localized('no-order', { order: '1' }))
    return deps.db.exec(statement)
  }
  const db = new Proxy(deps.db, { get: (target, name) => (name === 'exec' ? exec : Reflect.get(target, name)) })
  const { partnerId } = lab
  const attemptId = await startStep({ ...deps, db }, log, { partnerId, runId, stepId: 'product-pull' })
  await deps.runningAttempts.endOf(attemptId)
  expect(checks).toBe(3)
  expect((await showRun(deps, partnerId, runId)).current?.state).toBe('interrupted')
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startStep } from '../../src/sandbox/certification/attempt.ts'
import { attemptsOf } from '../../src/sandbox/certification/attempt-store.ts'
import { changeConditions, showRun } from '../../src/sandbox/certification/run.ts'
import { RunningAttempts } from '../../src/sandbox/certification/running-attempts.ts'
import { NO_CONDITIONS } from '../../src/sandbox/test-plan/conditions.ts'
import { call } from '../sandbox/caller.ts'
import { type Lab, openLab, SIMPLE } from '../sandbox/lab.ts'
import { textOf, type Visitor, visitor } from '../sandbox/pages/visitor.ts'
import { useTickets } from '../sandbox/walk.ts'
import { until } from '../until.ts'

/** Running all remaining steps one after the other. */

let lab: Lab
let me: Visitor
beforeAll(async () => {
  lab = await openLab()
  me = await visitor(lab)
})
afterAll(() => lab.close())

const view = (runId: string) => showRun(lab.world.deps, lab.partnerId, runId)
const page = (runId: string) => `/sandbox/run/${runId}`

/** The run's progress once no step is running and none is about to begin. */
async function settled(runId: string) {
  await until(() => !lab.world.deps.runningAttempts.isRunningAll(runId))
  const { steps, current } = await view(runId)
  return { at: current?.step.id, state: current?.state, passed: steps.filter(({ state }) => state === 'passed').length }
}

describe('running all steps', () => {
  it('goes from the form to the step that waits, and from the API to the end, where one click accepts the run', async () => {
    const runId = await lab.run()
    expect((await me.open(page(runId))).body).toContain(`action="${page(runId)}/start-all"`)
    const begun = await me.send(`${page(runId)}/start-all`)
    expect(begun.headers.location).toBe(`${page(runId)}?all=1`)
    // A second click, and a second tab.
    await Promise.all([me.send(`${page(runId)}/start-all`), me.send(`${page(runId)}/start-all`)])
    await useTickets(lab, runId)
    expect(textOf(await me.open(page(runId)))).toMatch(/Step \d+ of/)
    expect(await settled(runId)).toMatchObject({ at: 'consumption', state: 'passed' })
    const attempts = await attemptsOf(lab.world.deps.db, runId)
    expect(attempts.every(({ number, outcome }) => number === 1 && outcome === 'passed')).toBe(true)

    expect(await call(lab, 'POST', '/runs/present/start-all')).toMatchObject({ code: 200, run: { run_id: runId } })
    const { steps } = await view(runId)
    expect(await settled(runId)).toEqual({ at: steps.at(-1)?.step.id, state: 'passed', passed: steps.length })
    const last = await me.open(page(runId))
    expect(last.body.match(new RegExp(`action="${page(runId)}/accept"`, 'g'))).toHaveLength(1)
    expect(last.body).not.toMatch(/action="[^"]*\/(?:next|start-all)"/)
    expect(textOf(await me.submit(`${page(runId)}/accept`))).toContain('Congratulations!')
    const over = await call(lab, 'POST', '/runs/present/start-all')
    expect(over).toMatchObject({ code: 300, describe: expect.stringContaining('has passed') })
  })

  it('stops at a failed step, and retries it and runs the others when started again', async () => {
    const runId = await lab.run()
    await lab.mistakes('answer-missing-field')
    await me.send(`${page(runId)}/start-all`)
    expect(await settled(runId)).toEqual({ at: 'product-pull', state: 'failed', passed: 0 })
    await lab.mistakes()
    expect(textOf(await me.open(page(runId)))).toContain('Retry the failed step, then run the rest')
    await me.send(`${page(runId)}/start-all`)
    await lab.awaited(runId)
    await me.send(`${page(runId)}/steps/consumption/stop`)
    expect(await settled(runId)).toMatchObject({ at: 'consumption', state: 'interrupted' })
  })

  it('continues once, however often it is requested between two steps', async () => {
    const runId = await lab.run()
    expect((await lab.runStep(runId, 'product-pull')).outcome).toBe('passed')
    const clicks = Array.from({ length: 4 }, () => me.send(`${page(runId)}/start-all`))
    for (const { headers } of await Promise.all(clicks)) expect(headers.location).toBe(`${page(runId)}?all=1`)
    await lab.awaited(runId)
    const attempts = await attemptsOf(lab.world.deps.db, runId)
    expect(attempts.every(({ number }) => number === 1)).toBe(true)
    await me.send(`${page(runId)}/steps/consumption/stop`)
    await settled(runId)
  })

  it('continues after a step that another process runs', async () => {
    const { deps, log } = lab.world
    const runId = await lab.run({ ...SIMPLE, conditions: { is_slow: true } })
    const elsewhere = { ...deps, runningAttempts: new RunningAttempts() }
    await startStep(elsewhere, log, { partnerId: lab.partnerId, runId, stepId: 'product-pull' })
    await changeConditions(deps, lab.partnerId, runId, NO_CONDITIONS)
    await me.send(`${page(runId)}/start-all`)
    expect((await view(runId)).current?.running).toBe(true)
    await lab.awaited(runId)
    await me.send(`${page(runId)}/steps/consumption/stop`)
    await settled(runId)
  })

  it('ends when a new run replaces this one', async () => {
    const runId = await lab.run()
    await me.send(`${page(runId)}/start-all`)
    const next = await lab.run()
    await settled(runId)
    expect((await view(next)).steps.every(({ attempts }) => attempts.length === 0)).toBe(true)
    expect(textOf(await me.submit(`${page(runId)}/start-all`))).toContain('A newer run has replaced')
  })
})

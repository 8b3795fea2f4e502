import { describe, expect, it } from 'vitest'
import { translator } from '../../src/platform/lib/web/locale.ts'
import type { Run } from '../../src/sandbox/certification/run.ts'
import { currentState, runState } from '../../src/sandbox/certification/run-progress.ts'
import { progressNotice } from '../../src/sandbox/portal/pages/functions-page.ts'
import { homeOf } from '../../src/sandbox/portal/pages/overview-routes.ts'
import { progressOf, type SellerFacts } from '../../src/sandbox/portal/seller-progress.ts'

/** The progress of a seller in every combination of facts, and what the pages show of it. */

const at = new Date('2026-05-06T10:34:00Z')
const STEPS = 13

const run = (number: number, changes: Partial<Run> = {}): Run => ({
  run_id: `run-${number}`,
  partner_id: 7001n,
  number,
  choice: {} as Run['choice'],
  steps: [],
  current_step: 'product-pull',
  last_seq: 0,
  created_at: at,
  superseded_at: null,
  passed_at: null,
  ...changes,
})
const accepted = run(1, { passed_at: at, superseded_at: at })

/** The current run of a seller, with this many of its steps passed. */
const currentRun = (given: Run, passed: number, steps = STEPS) => {
  const found = { run: given, passed, steps }
  return { ...found, state: currentState(found) }
}

const PRESENT = {
  'no run': undefined,
  'nothing tried': currentRun(run(2), 0),
  'some passed': currentRun(run(2), 11),
  'all but one passed, then one failed again': currentRun(run(2), 12),
  'all passed, still at the last step': currentRun(run(2, { current_step: 'heartbeat' }), STEPS),
  'all passed': currentRun(run(2, { current_step: null }), STEPS),
  'without any step': currentRun(run(2), 0, 0),
  accepted: currentRun(run(2, { passed_at: at, current_step: null }), STEPS),
  'accepted, and a release has added a step': currentRun(run(2, { passed_at: at }), STEPS, STEPS + 1),
} satisfies Record<string, SellerFacts['present']>
type Present = keyof typeof PRESENT

/** The state, the next stage on the home page, and the notice on the page of functions with its link. */
type Expected = readonly [state: string, next: string | undefined, notice: RegExp | null, href: string | null]

const UNDER_WAY = (passed: number): Expected => [
  'under_way',
  'Complete the steps',
  new RegExp(`Test run 2 is in progress: ${passed} of`),
  '/sandbox/run',
]
const ALL_PASSED: Expected = [
  'all_passed',
  'Acceptance',
  /Test run 2 has passed all 13 steps\. Only the acceptance check is left/,
  '/sandbox/run#acceptance',
]
const ACCEPTED: Expected = ['accepted', undefined, /^Test run 2 passed acceptance at/, '/sandbox/run#acceptance']
const WITH_RUN: Readonly<Record<Exclude<Present, 'no run'>, Expected>> = {
  'nothing tried': UNDER_WAY(0),
  'some passed': UNDER_WAY(11),
  'all but one passed, then one failed again': UNDER_WAY(12),
  'all passed, still at the last step': ALL_PASSED,
  'all passed': ALL_PASSED,
  'without any step': UNDER_WAY(0),
  accepted: ACCEPTED,
  'accepted, and a release has added a step': ACCEPTED,
}
const LOCKED: Expected = ['locked', 'Get the signature right', /^Pass the signature tool once/, '/sandbox/signature']
const NO_RUN: Expected = ['no_run', 'Choose what your system does', null, null]

const combinations = (Object.keys(PRESENT) as Present[]).flatMap((name) =>
  [false, true].flatMap((hasPassedTool) => [false, true].map((before) => ({ name, hasPassedTool, before }))),
)

describe('the progress of a seller', () => {
  it.each(combinations)('$name, signature tool passed: $hasPassedTool, accepted before: $before', (given) => {
    const { name, hasPassedTool, before } = given
    const present = PRESENT[name]
    const own = present?.run.passed_at ? present.run : undefined
    const progress = progressOf({ hasPassedTool, present, accepted: own ?? (before ? accepted : undefined) })
    const [state, next, notice, href] = name === 'no run' ? (hasPassedTool ? NO_RUN : LOCKED) : WITH_RUN[name]
    expect(progress.state).toBe(state)
    expect(progress.present?.run_id).toBe(present?.run.run_id)
    expect(progress.accepted?.run_id).toBe(own ? 'run-2' : before ? 'run-1' : undefined)
    expect(progress.isLater).toBe(before && name !== 'no run' && own === undefined)

    const t = translator('en')
    const home = homeOf(progress, t)
    expect(home.stages.find((stage) => stage.state === 'next')?.name).toBe(next)
    // Stages that are done come before the next one, and never after it.
    expect(home.stages.map((stage) => stage.state).join()).toMatch(/^(done,?)*(next(,)*)?$/)
    expect(home.messages).toBe(progress.accepted && `/sandbox/run/${progress.accepted.run_id}#acceptance`)
    if (own) expect(home.reached?.text).toMatch(/^Your integration passed with test run 2 .*arrange going live/s)
    else if (progress.isLater) expect(home.reached?.text).toMatch(/passed with test run 1 .*those of test run 2\.$/s)
    else expect(home.reached === null).toBe(!before)

    const shown = progressNotice(progress, t)
    expect(shown?.href ?? null).toBe(href)
    if (notice) expect(shown?.text).toMatch(notice)
    expect(/stays passed/.test(shown?.text ?? '')).toBe(progress.isLater)
    // "Resume" is only for a run with steps left.
    expect(shown?.link === 'Resume').toBe(state === 'under_way')
  })
})

describe('the state of a run', () => {
  it.each([
    [{}, 3, 'under_way'],
    [{}, STEPS, 'all_passed'],
    [{ passed_at: at }, STEPS, 'accepted'],
    [{ superseded_at: at }, 3, 'replaced'],
    [{ superseded_at: at }, STEPS, 'replaced'],
    [{ superseded_at: at, passed_at: at }, STEPS, 'accepted'],
  ] as const)('%j with %i passed: %s', (changes, passed, state) => {
    expect(runState({ run: run(1, changes), passed, steps: STEPS })).toBe(state)
  })
})

import type { Deps } from '../../../platform/deps.ts'
import { addSeconds } from '../../../platform/lib/clock.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import { eventsOfAttempt, noSuchRun, progressOfRun, type RunDeps, showRun } from '../../certification/index.ts'
import type { CheckId } from '../../checks/index.ts'
import { checkText, stepName, stepTodo } from '../texts.ts'
import { acceptancePart, shownChoice, shownState, stepHref, stepItem } from './run-parts.ts'
import { attemptLink, shownLog } from './shown-log.ts'
import { waitingIn } from './waiting.ts'

type RunView = OutputOf<typeof showRun>
type StepProgress = RunView['steps'][number]

interface RunPageQuery {
  /** Id of the step to show; defaults to the current one. */
  readonly step?: string | undefined
  /** Number of the attempt; defaults to the newest. */
  readonly attempt?: number | undefined
  /** The URL of a step on the page that is read without signing in; by default it is the run's own page. */
  readonly sharedHref?: (stepId: string) => string
}

/** The contents of a run's page; throws 404 for a run, step or attempt that this partner does not have. */
export async function runPage(
  deps: RunDeps,
  { partnerId, runId, step, attempt, sharedHref }: RunPageQuery & { partnerId: bigint; runId: string },
  t: Translate,
) {
  const hrefOf = sharedHref ?? ((id: string) => stepHref(runId, id))
  const view = await showRun(deps, partnerId, runId)
  const progress = selectStep(view, step)
  const row = progress && selectAttempt(progress, attempt)
  const events = row ? await eventsOfAttempt(deps.db, row.attempt_id) : []
  const page = progress ? hrefOf(progress.step.id) : ''
  const log = row ? await shownLog(deps, partnerId, row, events, t, sharedHref !== undefined) : null
  return {
    run: shownRun(view, deps.clock.now()),
    steps: view.steps.map((step) => stepItem(step, hrefOf(step.step.id), step === progress, t)),
    /** Null if the page is about the acceptance check. */
    step: progress
      ? { ...shownStep(view, progress, page, t), waiting: await waitingIn(deps, partnerId, events, log) }
      : null,
    log,
    attempts: progress?.attempts.map((attempt) => attemptLink(attempt, page, attempt === row, t)).reverse() ?? [],
    acceptance: sharedHref ? null : await acceptancePart(deps, view, t),
    choice: shownChoice(view.run.choice, view.run.created_at, t),
  }
}

/** The requested step, or the current one; undefined after the last one. */
function selectStep({ run, steps }: RunView, requested: string | undefined): StepProgress | undefined {
  const id = requested ?? run.current_step
  if (id === null) return undefined
  const found = steps.find(({ step }) => step.id === id)
  if (!found && requested !== undefined) throw noSuchRun()
  return found
}

function selectAttempt(
  { attempts }: StepProgress,
  requested: number | undefined,
): StepProgress['attempts'][number] | undefined {
  if (requested === undefined) return attempts.at(-1)
  const found = attempts.find(({ number }) => number === requested)
  if (!found) throw noSuchRun()
  return found
}

const shownRun = (view: RunView, now: Date) => ({
  ...view.run,
  path: `/sandbox/run/${view.run.run_id}`,
  passedSteps: progressOfRun(view).passed,
  /** Any step is running, even one that this page does not show. */
  running: view.steps.some(({ running }) => running),
  /** A step was done a moment ago: in a run through all steps the next one is about to begin. */
  nextStartsByItself: hasJustPassed(view, now),
})

/** In a run through all steps, the next one begins within this time. */
const BEGINS_WITHIN_S = 3

function hasJustPassed({ steps, current }: RunView, now: Date): boolean {
  const ended = current !== undefined && current !== steps.at(-1) ? current.attempts.at(-1)?.ended_at : undefined
  return current?.done === true && !!ended && addSeconds(ended, BEGINS_WITHIN_S) > now
}

function shownStep({ steps }: RunView, progress: StepProgress, href: string, t: Translate) {
  const { step, state, done, running, current, attempts } = progress
  const standsAt = steps.findIndex((step) => step.current)
  return {
    ...stepItem(progress, href, true, t),
    /** From 1. */
    position: steps.indexOf(progress) + 1,
    kind: step.kind,
    todo: stepTodo(step.id, t),
    checks: (Object.keys(step.expects) as CheckId[]).map((id) => checkText(id, t)),
    running,
    canStart: current && !running,
    /** The start button then says *Start again*. */
    tried: attempts.length > 0,
    notTested: state === 'not_tested',
    canContinue: current && !running && done && progress !== steps.at(-1),
    /** It was the last step: only acceptance is left. */
    canAccept: current && !running && done && progress === steps.at(-1),
    /** The run has not reached it yet. */
    later: standsAt >= 0 && steps.indexOf(progress) > standsAt,
  }
}

/** The printable summary of a run. Throws 404 if the partner does not have this run. */
export async function reportPage(deps: Deps, { partnerId, runId }: { partnerId: bigint; runId: string }, t: Translate) {
  const view = await showRun(deps, partnerId, runId)
  const partner = await showPartner(deps, partnerId)
  const { run, steps } = view
  return {
    ...{ partner, run, path: `/sandbox/run/${runId}`, printedAt: deps.clock.now() },
    choice: shownChoice(run.choice, run.created_at, t),
    passed: steps.filter(({ state }) => state === 'passed').length,
    steps: steps.map(({ step, state, warnings, attempts }) => ({
      ...{ name: stepName(step.id, t), ...shownState(state, warnings, t), attempts: attempts.length },
      endedAt: attempts.findLast(({ ended_at }) => ended_at !== null)?.ended_at,
    })),
    acceptance: await acceptancePart(deps, view, t),
  }
}

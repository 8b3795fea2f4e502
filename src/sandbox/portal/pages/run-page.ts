import { addSeconds } from '../../../platform/lib/clock.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import type { RunDeps } from '../../certification/index.ts'
import { noSuchRun, progressOfRun, type RunProgress, showRun } from '../../certification/index.ts'
import type { CheckId } from '../../checks/index.ts'
import { checkText, stepTodo } from '../texts.ts'
import { type AcceptancePart, acceptancePart } from './acceptance-part.ts'
import { type ShownChoice, shownChoice } from './choice-shown.ts'
import { type AttemptLink, attemptLink, eventsOf, type ShownLog, shownLog } from './shown-log.ts'
import { type StepItem, stepHref, stepItem } from './step-item.ts'
import { type ShownWaiting, waitingIn } from './waiting.ts'

type RunView = OutputOf<typeof showRun>
type StepProgress = RunView['steps'][number]

/** Everything that the page of a run shows. */
export interface RunPage {
  readonly run: ShownRun
  readonly steps: readonly StepItem[]
  /** Null where the page is about the acceptance check. */
  readonly step: ShownStep | null
  readonly log: ShownLog | null
  readonly attempts: readonly AttemptLink[]
  readonly acceptance: AcceptancePart
  readonly choice: ShownChoice
}

interface ShownRun {
  readonly id: string
  readonly number: number
  readonly path: string
  /** ISO 8601. */
  readonly startedAt: string
  /** When a newer run has replaced it; null where none has. */
  readonly supersededAt: string | null
  readonly state: RunProgress['state']
  readonly passedSteps: number
  /** Whether any step is running, also one that this page does not show. */
  readonly running: boolean
  /** A step has just ended by itself and is done: where all were asked for, the next one begins in this moment. */
  readonly nextStartsByItself: boolean
  /** The live log continues after this line. */
  readonly lastSeq: number
}

interface ShownStep extends StepItem {
  /** From 1. */
  readonly position: number
  readonly kind: StepProgress['step']['kind']
  readonly todo: string
  readonly checks: readonly string[]
  readonly running: boolean
  readonly waiting: ShownWaiting | null
  readonly canStart: boolean
  /** It was tried before: Start is then called Start again. */
  readonly tried: boolean
  readonly canContinue: boolean
  /** It could not test anything. */
  readonly notTested: boolean
  /** It is done and was the last one: acceptance is what is left. */
  readonly canAccept: boolean
  /** The run has not come to it yet. */
  readonly later: boolean
}

export interface RunPageQuery {
  /** Id of the step to show; the current one if left out. */
  readonly step?: string | undefined
  /** Number of its attempt; the newest if left out. */
  readonly attempt?: number | undefined
  /** The address that shows a step; that of the run's own page if left out. */
  readonly hrefOf?: (stepId: string) => string
}

/** The page of the partner's run; throws 404 for what it does not have. */
export async function runPage(
  deps: RunDeps,
  {
    partnerId,
    runId,
    step,
    attempt,
    hrefOf = (id) => stepHref(runId, id),
  }: RunPageQuery & { partnerId: bigint; runId: string },
  t: Translate,
): Promise<RunPage> {
  const view = await showRun(deps, partnerId, runId)
  const progress = progressShown(view, step)
  const row = progress && attemptShown(progress, attempt)
  const events = row ? await eventsOf(deps, row) : []
  const page = progress ? hrefOf(progress.step.id) : ''
  const log = row ? await shownLog(deps, partnerId, row, events, t) : null
  return {
    run: { ...shownRun(view), nextStartsByItself: hasJustPassed(view, deps.clock.now()) },
    steps: view.steps.map((step) => stepItem(step, hrefOf(step.step.id), step === progress, t)),
    step: progress
      ? { ...shownStep(view, progress, page, t), waiting: await waitingIn(deps, partnerId, events, log) }
      : null,
    log,
    attempts: progress?.attempts.map((attempt) => attemptLink(attempt, page, attempt === row, t)).reverse() ?? [],
    acceptance: await acceptancePart(deps, view, t),
    choice: shownChoice(view.run.choice, view.run.created_at, t),
  }
}

/** The requested step, else the current one; undefined after the last one. */
function progressShown({ run, steps }: RunView, asked: string | undefined): StepProgress | undefined {
  const id = asked ?? run.current_step
  if (id === null) return undefined
  const found = steps.find(({ step }) => step.id === id)
  if (!found && asked !== undefined) throw noSuchRun()
  return found
}

function attemptShown(
  { attempts }: StepProgress,
  asked: number | undefined,
): StepProgress['attempts'][number] | undefined {
  if (asked === undefined) return attempts.at(-1)
  const found = attempts.find(({ number }) => number === asked)
  if (!found) throw noSuchRun()
  return found
}

const shownRun = (view: RunView): Omit<ShownRun, 'nextStartsByItself'> => shownProgress(view, progressOfRun(view))

const shownProgress = ({ run, steps }: RunView, progress: RunProgress): Omit<ShownRun, 'nextStartsByItself'> => ({
  state: progress.state,
  id: run.run_id,
  number: run.number,
  path: `/sandbox/run/${run.run_id}`,
  startedAt: run.created_at.toISOString(),
  supersededAt: run.superseded_at?.toISOString() ?? null,
  passedSteps: progress.passed,
  running: steps.some(({ running }) => running),
  lastSeq: run.last_seq,
})

/** Seconds in which the next step begins, if it begins by itself. */
const BEGINS_WITHIN_S = 3

function hasJustPassed({ steps, current }: RunView, now: Date): boolean {
  const ended = current !== undefined && current !== steps.at(-1) ? current.attempts.at(-1)?.ended_at : undefined
  return current?.done === true && !!ended && addSeconds(ended, BEGINS_WITHIN_S) > now
}

function shownStep({ steps }: RunView, progress: StepProgress, href: string, t: Translate): Omit<ShownStep, 'waiting'> {
  const { step, state, done, running, current, attempts } = progress
  const standsAt = steps.findIndex((step) => step.current)
  return {
    ...stepItem(progress, href, true, t),
    position: steps.indexOf(progress) + 1,
    kind: step.kind,
    todo: stepTodo(step.id, t),
    checks: (Object.keys(step.expects) as CheckId[]).map((id) => checkText(id, t)),
    running,
    canStart: current && !running,
    tried: attempts.length > 0,
    notTested: state === 'not_tested',
    canContinue: current && !running && done && progress !== steps.at(-1),
    canAccept: current && !running && done && progress === steps.at(-1),
    later: standsAt >= 0 && steps.indexOf(progress) > standsAt,
  }
}

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/index.ts'
import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { RescodeError } from '../lib/web/rescode.ts'
import { findPartner } from '../registry/partner.ts'
import { AttemptOver, StepFailed } from './attempt-log.ts'
import { appendEvent, endAttempt, findOpenAttempt, insertAttempt, keepAlive } from './attempt-store.ts'
import { countUse } from './bounded.ts'
import { endDeserted } from './ending.ts'
import { noSuchRun, notTheCurrentStep, passedAlready, runIsOver } from './errors.ts'
import { type Run, stepsOf } from './run.ts'
import { lockRun } from './run-store.ts'
import { Scene } from './scene.ts'
import type { Step } from './steps/step.ts'

const ALIVE_S = 12
const SIGN_EVERY_MS = 3_000

/** Attempts that this process makes. */
interface Making {
  readonly abort: AbortController
  readonly done: Promise<void>
}
const makings = new WeakMap<Config, Map<string, Making>>()

function makingsOf({ config }: Deps): Map<string, Making> {
  const known = makings.get(config) ?? new Map<string, Making>()
  makings.set(config, known)
  return known
}

/**
 * Starts the current step and returns the attempt's id at once; it goes on by itself and leaves its lines in the log.
 * While it is open, the same start again is the same attempt: a double click and a second tab change nothing. Throws 20003
 * with Retry-After when the partner starts too many.
 */
export async function startStep(
  deps: Deps,
  log: Log,
  { partnerId, runId, stepId }: { partnerId: bigint; runId: string; stepId: string },
): Promise<string> {
  const begun = await deps.db.tx(async (db) => {
    const run = await lockRun(db, partnerId, runId)
    if (!run) throw noSuchRun()
    if (run.superseded_at !== null) throw runIsOver()
    if (run.passed_at !== null) throw passedAlready()
    const step = stepsOf(run.choice).find(({ id }) => id === stepId)
    if (!step || run.current_step !== stepId) throw notTheCurrentStep()
    await endDeserted({ ...deps, db }, runId)
    const open = await findOpenAttempt(db, runId)
    if (open) return { attemptId: open.attempt_id }
    // Each attempt keeps what was said on the wire, a megabyte a call at most.
    await countUse({ ...deps, db }, 'start', partnerId)
    return begin({ ...deps, db }, run, step)
  })
  if ('step' in begun) make(deps, log, begun)
  return begun.attemptId
}

interface Begun {
  readonly attemptId: string
  readonly run: Run
  readonly step: Step
  readonly startedAt: Date
}

async function begin({ db, clock }: Deps, run: Run, step: Step): Promise<Begun> {
  const [attemptId, startedAt] = [randomUUID(), clock.now()]
  const attempt = { attemptId, runId: run.run_id, stepId: step.id }
  const { number } = await insertAttempt(db, attempt, startedAt, addSeconds(startedAt, ALIVE_S))
  await appendEvent(db, attemptId, { kind: 'started', data: { step_id: step.id, number } }, startedAt)
  return { attemptId, run, step, startedAt }
}

/** Makes the attempt in the background, with a sign of life every few seconds. */
function make(deps: Deps, log: Log, begun: Begun): void {
  const { attemptId } = begun
  const abort = new AbortController()
  const sign = setInterval(() => {
    keepAlive(deps.db, attemptId, addSeconds(deps.clock.now(), ALIVE_S)).then(
      (alive) => alive === 0 && abort.abort(),
      // The database is away for the moment; when it stays so, the attempt counts as interrupted.
      () => {},
    )
  }, SIGN_EVERY_MS)
  const done = perform(deps, begun, abort.signal)
    .catch((error: unknown) => {
      // What an ended attempt still wanted to write interests nobody.
      if (!abort.signal.aborted) log.error({ err: error, attempt: attemptId }, 'a sandbox step could not be made')
    })
    .finally(() => {
      clearInterval(sign)
      makingsOf(deps).delete(attemptId)
    })
  makingsOf(deps).set(attemptId, { abort, done })
}

async function perform(deps: Deps, { attemptId, run, step, startedAt }: Begun, signal: AbortSignal): Promise<void> {
  const partner = await findPartner(deps, run.partner_id)
  if (!partner) return
  const { choice, run_id: runId } = run
  const patienceS = deps.config.SANDBOX_WAIT_S
  const scene = new Scene({ deps, partner, runId, attemptId, choice, startedAt, patienceS, signal })
  try {
    await step.perform(scene)
  } catch (error) {
    if (error instanceof AttemptOver) return interrupt(deps, attemptId)
    // What the platform itself refuses (no price is known, the order is in another state) is the person's to mend.
    if (error instanceof RescodeError) await scene.check('platform', false, { actual: error.message }).catch(() => {})
    else if (!(error instanceof StepFailed)) {
      await interrupt(deps, attemptId)
      throw error
    }
  }
  await endAttempt(deps.db, attemptId, scene.passed ? 'passed' : 'failed', deps.clock.now())
}

async function interrupt({ db, clock }: Deps, attemptId: string): Promise<void> {
  await endAttempt(db, attemptId, 'interrupted', clock.now())
}

const LAST_WORDS_MS = 1_000

/** Ends what this process makes as interrupted: it is about to stop. A call that a partner does not answer is left. */
export async function interruptSteps(deps: Deps): Promise<void> {
  const all = [...makingsOf(deps).entries()]
  await Promise.all(
    all.map(async ([attemptId, { abort, done }]) => {
      await interrupt(deps, attemptId).catch(() => {})
      abort.abort()
      await Promise.race([done, sleep(LAST_WORDS_MS, undefined, { ref: false })])
    }),
  )
}

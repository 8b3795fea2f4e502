import type { Deps } from '../deps.ts'
import { runIsOver } from './errors.ts'
import { type Proof, proofOf } from './evidence-store.ts'
import { type RunView, showRun } from './run.ts'
import { lockRun, markPassed } from './run-store.ts'

/** What the acceptance check ("query orders") came to. */
export interface Acceptance {
  readonly passed: boolean
  /** True for the one check that has made it passed. */
  readonly justNow: boolean
  /** Ids of steps that have not passed yet. */
  readonly openSteps: readonly string[]
  /** Order ids that count. */
  readonly proof: Proof
}

/** What the platform's own records say about a run; changes nothing. */
export async function acceptanceOf(deps: Deps, view: RunView): Promise<Acceptance> {
  const openSteps = view.steps.filter(({ state }) => state !== 'passed').map(({ step }) => step.id)
  return {
    passed: view.run.passed_at !== null,
    justNow: false,
    openSteps,
    proof: await proofOf(deps.db, view.run.run_id),
  }
}

/**
 * The acceptance check: every step has passed, and the platform's records show one consumption and one refund in this
 * run (source, "Sandbox test run"). Then the integration is passed, once, however many ask at the same time.
 */
export async function checkAcceptance(deps: Deps, partnerId: bigint, runId: string): Promise<Acceptance> {
  return deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db }
    await lockRun(db, partnerId, runId)
    const view = await showRun(inside, partnerId, runId)
    const found = await acceptanceOf(inside, view)
    if (found.passed) return found
    if (view.run.superseded_at !== null) throw runIsOver()
    if (!isComplete(found)) return found
    const justNow = await markPassed(db, runId, deps.clock.now())
    return { ...found, passed: true, justNow }
  })
}

export const isComplete = ({ openSteps, proof }: Acceptance): boolean =>
  openSteps.length === 0 && proof.consumed.length > 0 && proof.refunded.length > 0

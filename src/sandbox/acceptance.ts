import { runIsOver, stepRunning } from '../certification/errors.ts'
import { type Proof, proofOf } from '../certification/evidence-store.ts'
import { reportUrl, storeReport } from '../certification/report.ts'
import type { ReportFacts } from '../certification/report-wire.ts'
import { type RunView, showRun } from '../certification/run.ts'
import { lockRun, markPassed } from '../certification/run-store.ts'
import type { Deps } from '../deps.ts'
import { showPartner } from '../registry/partner.ts'
import { tellContacts } from './notify/tell-contacts.ts'

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

const isComplete = ({ openSteps, proof }: Acceptance): boolean =>
  openSteps.length === 0 && proof.consumed.length > 0 && proof.refunded.length > 0

/**
 * The acceptance check: every step has passed, and the platform's records show one consumption and one refund in this
 * run (DECISIONS "States of a test run"). Then the integration is passed, once, however many ask at the same time: the signed
 * report and the messages to the contacts are committed with it.
 */
export async function checkAcceptance(deps: Deps, partnerId: bigint, runId: string): Promise<Acceptance> {
  return deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db }
    await lockRun(db, partnerId, runId)
    const view = await showRun(inside, partnerId, runId)
    const found = await acceptanceOf(inside, view)
    if (found.passed) return found
    if (view.run.superseded_at !== null) throw runIsOver()
    if (view.steps.some(({ running }) => running)) throw stepRunning()
    if (!isComplete(found)) return found
    const passedAt = deps.clock.now()
    const justNow = await markPassed(db, runId, passedAt)
    await announce(inside, view, found.proof, passedAt)
    return { ...found, passed: true, justNow }
  })
}

async function announce(deps: Deps, view: RunView, proof: Proof, passedAt: Date): Promise<void> {
  const { run_id: runId, partner_id: partnerId, number: runNumber } = view.run
  const { name } = await showPartner(deps, partnerId)
  const report = await storeReport(deps, runId, factsOf(view, name, proof, passedAt))
  await tellContacts(deps, { runId, partnerId, runNumber, passedAt, reportUrl: reportUrl(deps, report.report_id) })
}

const factsOf = ({ run, steps }: RunView, partner_name: string, proof: Proof, passedAt: Date): ReportFacts => ({
  partner_id: String(run.partner_id),
  partner_name,
  run_number: run.number,
  functions: run.choice.functions,
  steps: steps.map(({ step, attempts }) => ({
    id: step.id,
    passed_at: (attempts.findLast(({ outcome }) => outcome === 'passed')?.ended_at ?? passedAt).toISOString(),
    attempts: attempts.length,
  })),
  evidence: { consumption: proof.consumed, refund: proof.refunded },
  passed_at: passedAt.toISOString(),
})

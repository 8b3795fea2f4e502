import { type Deps, inTransaction } from '../../platform/deps.ts'
import { listed, localized } from '../../platform/lib/localized-text.ts'
import { outcomesOf } from '../../ticketing/orders/index.ts'
import { CONTACT_ROLES, showPartner } from '../../ticketing/partners/index.ts'
import { type ReportFacts, storeReport } from '../reports/index.ts'
import { type RunView, showRun } from './run.ts'
import { RunRefusal, runIsOver, stepRunning } from './run-errors.ts'
import { linkedOrders, lockRun, markPassed, wasAcceptedBefore } from './run-store.ts'

interface PassedRun {
  readonly runId: string
  readonly partnerId: bigint
  readonly runNumber: number
  readonly passedAt: Date
  readonly reportId: string
  /** The partner's first accepted run. */
  readonly isFirst: boolean
}

/** The result of the acceptance check ("query orders"). `justPassed`: set only by the check that accepted the run. */
export type Acceptance = Awaited<ReturnType<typeof acceptanceOf>> & { readonly justPassed?: PassedRun }

/** Checks a run against the platform's own records, without changing anything. */
export async function acceptanceOf(deps: Deps, view: RunView) {
  const { name, stage, contacts } = await showPartner(deps, view.run.partner_id)
  return {
    passed: view.run.passed_at !== null,
    /** Ids of the steps that are not done. */
    openSteps: view.steps.filter(({ done }) => !done).map(({ step }) => step.id),
    /** Ids of the orders that count as evidence. */
    proof: await outcomesOf(deps.db, await linkedOrders(deps.db, view.run.run_id)),
    /** An earlier run of the partner was accepted. */
    acceptedBefore: await wasAcceptedBefore(deps.db, view.run),
    partner: { name, stage },
    /** Contacts that the partner has yet to name: acceptance notifies them and nobody else. */
    missingContacts: CONTACT_ROLES.filter((role) => contacts[role] === undefined),
  }
}

const isComplete = ({ openSteps, proof }: Acceptance): boolean =>
  openSteps.length === 0 && proof.consumed.length > 0 && proof.refunded.length > 0

/**
 * The acceptance check: every step is done, and the platform's records show a consumption and a refund in this run
 * (REFERENCE "States of a test run"). The run is accepted exactly once, even under concurrent calls, and the signed
 * report is stored in the same transaction. Throws when only a contact is missing, because nobody would be notified.
 */
export async function checkAcceptance(deps: Deps, partnerId: bigint, runId: string): Promise<Acceptance> {
  return inTransaction(deps, async (inside, db) => {
    await lockRun(db, partnerId, runId)
    const view = await showRun(inside, partnerId, runId)
    const acceptance = await acceptanceOf(inside, view)
    if (acceptance.passed) return acceptance
    if (view.run.superseded_at !== null) throw runIsOver()
    if (view.steps.some(({ running }) => running)) throw stepRunning()
    if (!isComplete(acceptance)) return acceptance
    const { missingContacts } = acceptance
    if (missingContacts.length > 0) {
      const roles = listed('and-a', missingContacts)
      throw new RunRefusal('contacts_missing', localized('acceptance-contacts', { roles }))
    }
    const passedAt = deps.clock.now()
    await markPassed(db, runId, passedAt)
    const { report_id: reportId } = await storeReport(inside, runId, factsOf(view, acceptance, passedAt))
    const isFirst = !acceptance.acceptedBefore
    const justPassed = { runId, partnerId, runNumber: view.run.number, passedAt, reportId, isFirst }
    return { ...acceptance, passed: true, justPassed }
  })
}

/** Orders of each kind that a report names: one is enough, and the report has to fit into the form that verifies it. */
const MAX_EVIDENCE = 500

const factsOf = ({ run, steps }: RunView, { partner, proof }: Acceptance, passedAt: Date): ReportFacts => {
  const notTested = steps.filter(({ state }) => state !== 'passed').map(({ step }) => step.id)
  return {
    partner_id: String(run.partner_id),
    partner_name: partner.name,
    run_number: run.number,
    functions: run.choice.functions,
    steps: steps
      .filter(({ state }) => state === 'passed')
      .map(({ step, attempts }) => ({
        id: step.id,
        passed_at: (attempts.findLast(({ outcome }) => outcome === 'passed')?.ended_at ?? passedAt).toISOString(),
        attempts: attempts.length,
      })),
    ...(notTested.length > 0 ? { not_tested: notTested } : {}),
    evidence: {
      consumption: proof.consumed.slice(-MAX_EVIDENCE),
      refund: proof.refunded.slice(-MAX_EVIDENCE),
    },
    passed_at: passedAt.toISOString(),
  }
}

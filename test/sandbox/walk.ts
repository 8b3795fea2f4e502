import { nextStep, showRun } from '../../src/sandbox/certification/run.ts'
import { findLinkedOrders, type OrderRole } from '../../src/sandbox/certification/run-store.ts'
import type { CheckId } from '../../src/sandbox/checks/checks.ts'
import { FUNCTION_IDS } from '../../src/sandbox/test-plan/functions.ts'
import type { Lab, StepResult } from './lab.ts'

/** Everything that the demo partner can do. */
export const EVERYTHING = {
  functions: [...FUNCTION_IDS],
  products: {
    main: 'DEMO-BOAT',
    later: 'DEMO-CASTLE',
    review: 'DEMO-TOWER',
    level: 'DEMO-SHOW',
    sold_out: 'DEMO-SOLD-OUT',
  },
}

export const orderOf = async (lab: Lab, runId: string, role: OrderRole): Promise<bigint> =>
  (await findLinkedOrders(lab.world.deps.db, runId, role))[0] ?? 0n

/** Uses all or some tickets of the order that a step waits for; returns the order. */
export async function useTickets(lab: Lab, runId: string, tickets?: number): Promise<bigint> {
  const { about } = await lab.awaited(runId)
  await lab.control('consume', { orderId: about.orderId, quantity: tickets ?? Number(about.quantity) })
  return BigInt(about.orderId ?? '')
}

/** The demo partner needs three seconds to issue tickets, by a clock that stands still here. */
const ISSUED_AFTER_S = 4
/** Steps in which the demo partner issues tickets. */
const TAKES_TIME = [
  'order-pay-later',
  'order-pay-again',
  'large-order-id',
  'consumption',
  'refund-after-review',
  'refund-notice',
  'refund-again',
  'lost-answer',
  'refund-of-rest',
  'foreign-code',
]

/** What the people at the demo partner do while a step waits. */
const MEANWHILE: Readonly<Record<string, (lab: Lab, runId: string) => Promise<unknown>>> = {
  'product-change': (lab) =>
    lab.control('change-product', { partnerDealId: 'DEMO-BOAT', title: `Title ${Math.random()}` }),
  // The demo partner resends a refused notice by itself.
  consumption: async (lab, runId) => useTickets(lab, runId).catch(() => {}),
  'refund-of-rest': async (lab, runId) => useTickets(lab, runId, 1).catch(() => {}),
  'refund-notice': async (lab, runId) => {
    const { refundId } = (await lab.awaited(runId)).about
    return lab.control('decide-refund', { refundId, approve: true }).catch(() => {})
  },
}

/** Advances the clock fast until tickets are issued, and then slowly, so that the step does not time out. */
function passTime({ world }: Lab): () => void {
  let timer: NodeJS.Timeout
  const pass = (passed: number): void => {
    timer = setTimeout(
      () => {
        world.clock.advance(1)
        pass(passed + 1)
      },
      passed < ISSUED_AFTER_S ? 50 : 500,
    )
  }
  pass(0)
  return () => clearTimeout(timer)
}

/** Runs a step with everything that the partner has to do for it; `afterwards` runs after that. */
export async function completeStep(
  lab: Lab,
  runId: string,
  step: string,
  afterwards: () => Promise<unknown> = async () => {},
): Promise<StepResult> {
  const stop = TAKES_TIME.includes(step) ? passTime(lab) : () => {}
  return lab
    .runStep(runId, step, async () => {
      await MEANWHILE[step]?.(lab, runId)
      await afterwards()
    })
    .finally(stop)
}

interface Walked {
  readonly runId: string
  /** The steps that passed, in order. */
  readonly steps: readonly string[]
  /** Checks of level `warning` that failed in steps that passed. */
  readonly warned: readonly CheckId[]
  readonly failed?: { readonly step: string; readonly result: StepResult }
}

/** Walks to the end, or to the first step that does not pass; `before` is called ahead of each step. */
export async function walk(
  lab: Lab,
  chosen: object,
  before: (runId: string, step: string) => Promise<unknown> = async () => {},
): Promise<Walked> {
  const { deps } = lab.world
  const runId = await lab.run(chosen)
  const steps: string[] = []
  const warned: CheckId[] = []
  for (;;) {
    const { current } = await showRun(deps, lab.partnerId, runId)
    if (!current) return { runId, steps, warned }
    const { id } = current.step
    await before(runId, id)
    const result = await completeStep(lab, runId, id)
    if (result.outcome !== 'passed') return { runId, steps, warned, failed: { step: id, result } }
    steps.push(id)
    warned.push(...result.failures.map((finding) => finding.id))
    await nextStep(deps, lab.partnerId, runId, id)
  }
}

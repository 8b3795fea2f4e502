import type { Deps } from '../../../platform/deps.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { showPartner } from '../../../ticketing/partners/index.ts'
import { showRun } from '../../certification/index.ts'
import { stepName } from '../texts.ts'
import { type AcceptancePart, acceptancePart } from './acceptance-part.ts'
import { type ShownChoice, shownChoice } from './choice-shown.ts'
import type { Tone } from './log-line.ts'
import { lastState } from './step-item.ts'

/** The printable summary of a run. */
export interface ReportPage {
  readonly partner: { readonly id: string; readonly name: string; readonly clientId: string }
  readonly number: number
  readonly path: string
  /** ISO 8601. */
  readonly startedAt: string
  /** When it passed, as the page shows it; null until then. */
  readonly passedAt: string | null
  readonly printedAt: string
  readonly choice: ShownChoice
  readonly steps: readonly ReportStep[]
  readonly passed: number
  readonly acceptance: AcceptancePart
}

interface ReportStep {
  readonly name: string
  readonly tone: Tone
  readonly word: string
  readonly attempts: number
  /** When its last attempt ended; null while there is none. */
  readonly endedAt: string | null
}

/** Throws 404 for a run that the partner does not have. */
export async function reportPage(
  deps: Deps,
  { partnerId, runId }: { partnerId: bigint; runId: string },
  t: Translate,
): Promise<ReportPage> {
  const view = await showRun(deps, partnerId, runId)
  const partner = await showPartner(deps, partnerId)
  const { run, steps } = view
  return {
    partner: { id: String(partnerId), name: partner.name, clientId: partner.client_id },
    number: run.number,
    path: `/sandbox/run/${runId}`,
    startedAt: run.created_at.toISOString(),
    passedAt: run.passed_at?.toISOString() ?? null,
    printedAt: deps.clock.now().toISOString(),
    choice: shownChoice(run.choice, run.created_at, t),
    passed: steps.filter(({ state }) => state === 'passed').length,
    steps: steps.map((progress) => {
      const { step, attempts } = progress
      const { tone, word } = lastState(progress, t)
      const last = attempts.findLast(({ ended_at }) => ended_at !== null)?.ended_at
      return {
        name: stepName(step.id, t),
        tone,
        word,
        attempts: attempts.length,
        endedAt: last?.toISOString() ?? null,
      }
    }),
    acceptance: await acceptancePart(deps, view, t),
  }
}

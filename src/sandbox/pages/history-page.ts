import { listRuns, standings } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import { beijingTime } from '../../lib/beijing.ts'
import type { Translate } from '../../lib/web/locale.ts'
import { type ShownChoice, shownChoice } from './choice-shown.ts'
import type { Tone } from './log-line.ts'

/** A run in the history. */
export interface PastRun {
  readonly number: number
  readonly href: string
  readonly startedAt: string
  readonly passed: number
  readonly steps: number
  readonly tone: Tone
  /** Its state in words. */
  readonly word: string
  readonly isPassed: boolean
  readonly choice: ShownChoice
}

/** Every run of the partner, newest first. */
export async function historyPage(deps: Deps, partnerId: bigint, t: Translate): Promise<PastRun[]> {
  const runs = await standings(deps, await listRuns(deps, partnerId))
  return runs.map(({ run, passed, steps }) => ({
    number: run.number,
    href: `/sandbox/run/${run.run_id}`,
    startedAt: beijingTime(run.created_at),
    passed,
    steps,
    isPassed: run.passed_at !== null,
    choice: shownChoice(run.choice, run.created_at, t),
    ...stateOf(run, t),
  }))
}

function stateOf(
  run: { passed_at: Date | null; superseded_at: Date | null },
  t: Translate,
): Pick<PastRun, 'tone' | 'word'> {
  if (run.passed_at) return { tone: 'good', word: t('sandbox.history.passed', { at: beijingTime(run.passed_at) }) }
  if (!run.superseded_at) return { tone: 'plain', word: t('sandbox.history.present') }
  return { tone: 'plain', word: t('sandbox.history.over', { at: beijingTime(run.superseded_at) }) }
}

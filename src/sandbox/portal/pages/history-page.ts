import type { Deps } from '../../../platform/deps.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { listRuns, type RunProgress } from '../../certification/index.ts'
import { type ShownChoice, shownChoice } from './choice-shown.ts'
import type { Tone } from './log-line.ts'

/** A run in the history. */
export interface PastRun {
  readonly number: number
  readonly href: string
  /** ISO 8601. */
  readonly startedAt: string
  readonly passed: number
  readonly steps: number
  readonly tone: Tone
  /** Its state in words; a line feed stands for `at`. */
  readonly word: string
  /** ISO 8601; null where the state began with the run. */
  readonly at: string | null
  readonly isPassed: boolean
  readonly choice: ShownChoice
}

/** Every run of the partner, newest first. */
export async function historyPage(deps: Deps, partnerId: bigint, t: Translate): Promise<PastRun[]> {
  return (await listRuns(deps, partnerId)).map((standing) => pastRun(standing, t))
}

function pastRun(standing: RunProgress, t: Translate): PastRun {
  const { run, passed, steps } = standing
  return {
    number: run.number,
    href: `/sandbox/run/${run.run_id}`,
    startedAt: run.created_at.toISOString(),
    passed,
    steps,
    isPassed: standing.state === 'accepted',
    choice: shownChoice(run.choice, run.created_at, t),
    ...stateOf(standing, t),
  }
}

function stateOf(standing: RunProgress, t: Translate): Pick<PastRun, 'tone' | 'word' | 'at'> {
  const { passed_at, superseded_at } = standing.run
  switch (standing.state) {
    case 'accepted':
      return { tone: 'good', word: t('sandbox.history.passed', { at: '\n' }), at: passed_at?.toISOString() ?? null }
    case 'replaced':
      return { tone: 'plain', word: t('sandbox.history.over', { at: '\n' }), at: superseded_at?.toISOString() ?? null }
    default:
      return { tone: 'plain', word: t('sandbox.history.present'), at: null }
  }
}

import { listRuns, type Standing } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import { beijingTime } from '../../lib/time-zone.ts'
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
  return (await listRuns(deps, partnerId)).map((standing) => pastRun(standing, t))
}

function pastRun(standing: Standing, t: Translate): PastRun {
  const { run, passed, steps } = standing
  return {
    number: run.number,
    href: `/sandbox/run/${run.run_id}`,
    startedAt: beijingTime(run.created_at),
    passed,
    steps,
    isPassed: standing.state === 'accepted',
    choice: shownChoice(run.choice, run.created_at, t),
    ...stateOf(standing, t),
  }
}

function stateOf(standing: Standing, t: Translate): Pick<PastRun, 'tone' | 'word'> {
  const { passed_at, superseded_at } = standing.run
  switch (standing.state) {
    case 'accepted':
      return { tone: 'good', word: t('sandbox.history.passed', { at: passed_at ? beijingTime(passed_at) : '' }) }
    case 'replaced':
      return { tone: 'plain', word: t('sandbox.history.over', { at: superseded_at ? beijingTime(superseded_at) : '' }) }
    default:
      return { tone: 'plain', word: t('sandbox.history.present') }
  }
}

import type { OutputOf } from '../../../platform/lib/json/input.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import type { showRun } from '../../certification/index.ts'
import { stepName } from '../texts.ts'
import type { Tone } from './log-line.ts'

type StepProgress = OutputOf<typeof showRun>['steps'][number]

/** A step in the list of steps. */
export interface StepItem {
  readonly id: string
  readonly name: string
  readonly href: string
  readonly tone: Tone
  /** Its state in a word. */
  readonly word: string
  readonly mark: string
  /** Where the run stands. */
  readonly current: boolean
  /** Whose page this is. */
  readonly shown: boolean
}

export const stepHref = (runId: string, stepId: string): string => `/sandbox/run/${runId}?step=${stepId}`

export function stepItem(progress: StepProgress, href: string, shown: boolean, t: Translate) {
  const { step, running, current } = progress
  const item = { id: step.id, name: stepName(step.id, t), href, current, shown }
  return { ...item, ...(running ? stateOf('running', 0, t) : lastState(progress, t)) } satisfies StepItem
}

type Shown = Pick<StepItem, 'tone' | 'word' | 'mark'>

/** How the last attempt of a step that has ended came out. */
export const lastState = ({ state, warnings }: StepProgress, t: Translate): Shown => stateOf(state, warnings, t)

/** `passed with 2 warnings` */
export const passedWith = (warnings: number, t: Translate): string =>
  warnings === 1 ? t('sandbox.run.passed_warning') : t('sandbox.run.passed_warnings', { count: String(warnings) })

function stateOf(state: StepProgress['state'] | 'running', warnings: number, t: Translate): Shown {
  switch (state) {
    case 'passed':
      if (warnings > 0) return { tone: 'warning', word: passedWith(warnings, t), mark: '✓' }
      return { tone: 'good', word: t('sandbox.run.passed'), mark: '✓' }
    case 'failed':
      return { tone: 'bad', word: t('sandbox.run.failed'), mark: '✗' }
    case 'not_tested':
      return { tone: 'warning', word: t('sandbox.run.not_tested'), mark: '!' }
    case 'interrupted':
      return { tone: 'warning', word: t('sandbox.run.interrupted'), mark: '!' }
    case 'running':
      return { tone: 'plain', word: t('sandbox.run.running'), mark: '…' }
    case 'open':
      return { tone: 'plain', word: t('sandbox.run.open'), mark: '' }
  }
}

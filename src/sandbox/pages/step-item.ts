import type { Progress } from '../../certification/index.ts'
import type { Translate } from '../../lib/web/locale.ts'
import { stepName } from '../texts.ts'
import type { Tone } from './log-line.ts'

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

export function stepItem({ step, state, running, current }: Progress, href: string, shown: boolean, t: Translate) {
  const item = { id: step.id, name: stepName(step.id, t), href, current, shown }
  return { ...item, ...stateOf(running ? 'running' : state, t) } satisfies StepItem
}

export function stateOf(state: Progress['state'] | 'running', t: Translate): Pick<StepItem, 'tone' | 'word' | 'mark'> {
  switch (state) {
    case 'passed':
      return { tone: 'good', word: t('sandbox.run.passed'), mark: '✓' }
    case 'failed':
      return { tone: 'bad', word: t('sandbox.run.failed'), mark: '✗' }
    case 'interrupted':
      return { tone: 'warning', word: t('sandbox.run.interrupted'), mark: '!' }
    case 'running':
      return { tone: 'plain', word: t('sandbox.run.running'), mark: '…' }
    case 'open':
      return { tone: 'plain', word: t('sandbox.run.open'), mark: '' }
  }
}

import { presentStanding } from '../../certification/index.ts'
import type { Deps } from '../../deps.ts'
import type { Translate } from '../../lib/web/locale.ts'
import { hasPassedSignatureTool } from '../../mws/index.ts'

/** One of the stages on the way to a passed integration. */
export interface Stage {
  readonly name: string
  readonly detail: string
  readonly href: string
  readonly done: boolean
  readonly next: boolean
  readonly state: 'done' | 'next' | ''
}

/** The stages, and where the partner is: the first stage that is not done is the next one. */
export async function homePage(deps: Deps, partnerId: bigint, t: Translate): Promise<Stage[]> {
  const [unlocked, present] = await Promise.all([
    hasPassedSignatureTool(deps, partnerId),
    presentStanding(deps, partnerId),
  ])
  const walked = present !== undefined && present.passed === present.steps
  const progress = present && { passed: String(present.passed), steps: String(present.steps) }
  const stages = [
    {
      name: t('sandbox.home.signature'),
      detail: t('sandbox.home.signature_detail'),
      href: '/sandbox/signature',
      done: unlocked,
    },
    {
      name: t('sandbox.home.functions'),
      detail: t('sandbox.home.functions_detail'),
      href: '/sandbox/functions',
      done: present !== undefined,
    },
    {
      name: t('sandbox.home.steps'),
      detail: progress ? t('sandbox.home.steps_progress', progress) : t('sandbox.home.steps_detail'),
      href: '/sandbox/run',
      done: walked,
    },
    {
      name: t('sandbox.home.acceptance'),
      detail: t('sandbox.home.acceptance_detail'),
      href: '/sandbox/run#acceptance',
      done: present !== undefined && present.run.passed_at !== null,
    },
  ]
  const next = stages.findIndex(({ done }) => !done)
  return stages.map((stage, index) => ({
    ...stage,
    next: index === next,
    state: stage.done ? 'done' : index === next ? 'next' : '',
  }))
}

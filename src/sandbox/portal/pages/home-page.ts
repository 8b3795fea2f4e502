import type { Deps } from '../../../platform/deps.ts'
import type { Translate } from '../../../platform/lib/web/locale.ts'
import { type SellerProgress, type SellerState, sellerProgress } from '../seller-progress.ts'

/** One of the stages on the way to a passed integration. */
interface HomeStep {
  readonly name: string
  readonly detail: string
  readonly href: string
  readonly state: 'done' | 'next' | ''
}

export interface HomePage {
  /** What has been reached: the integration has passed, `at` (ISO 8601; a line feed in `text`). Null before that. */
  readonly reached: { readonly text: string; readonly at: string } | null
  /** Where the messages to the contacts stand; null until a run was accepted. */
  readonly messages: string | null
  readonly stages: readonly HomeStep[]
}

const STAGES = ['signature', 'functions', 'steps', 'acceptance'] as const
/** How many stages are done; the one after them is next. */
const DONE: Readonly<Record<SellerState, number>> = { locked: 0, no_run: 1, under_way: 2, all_passed: 3, accepted: 4 }

export const homePage = async (deps: Deps, partnerId: bigint, t: Translate): Promise<HomePage> =>
  homeOf(await sellerProgress(deps, partnerId), t)

/** The stages of the run that the partner is at, and what it has reached with this or an earlier one. */
export function homeOf({ state, present, accepted, isLater }: SellerProgress, t: Translate): HomePage {
  const progress = present && { passed: String(present.passed), steps: String(present.steps) }
  const texts = {
    signature: [t('sandbox.home.signature'), t('sandbox.home.signature_detail'), '/sandbox/signature'],
    functions: [t('sandbox.home.functions'), t('sandbox.home.functions_detail'), '/sandbox/functions'],
    steps: [
      t('sandbox.home.steps'),
      progress ? t('sandbox.home.steps_progress', progress) : t('sandbox.home.steps_detail'),
      '/sandbox/run',
    ],
    acceptance: [t('sandbox.home.acceptance'), t('sandbox.home.acceptance_detail'), '/sandbox/run#acceptance'],
  } as const
  return {
    reached: accepted && reached(accepted, isLater ? present : null, t),
    messages: accepted && `/sandbox/run/${accepted.run_id}#acceptance`,
    stages: STAGES.map((id, index) => {
      const [name, detail, href] = texts[id]
      return { name, detail, href, state: index < DONE[state] ? 'done' : index === DONE[state] ? 'next' : '' }
    }),
  }
}

function reached(
  accepted: NonNullable<SellerProgress['accepted']>,
  later: SellerProgress['present'],
  t: Translate,
): NonNullable<HomePage['reached']> {
  const values = { number: String(accepted.number), at: '\n' }
  const text = later
    ? t('sandbox.home.passed_before', { ...values, later: String(later.number) })
    : t('sandbox.home.all_done', values)
  return { text, at: accepted.passed_at.toISOString() }
}

import type { Translate } from '../../../platform/lib/web/locale.ts'
import type { SellerProgress } from '../seller-progress.ts'

/**
 * What the page of functions says about where the seller stands, and where that leads to; a line feed in `text` stands
 * for `at`. Null where there is nothing to say: no run yet.
 */
export function progressNotice({ state, present, accepted, isLater }: SellerProgress, t: Translate) {
  if (state === 'locked') {
    return {
      text: t('sandbox.functions.locked'),
      href: '/sandbox/signature',
      link: t('sandbox.functions.to_signature'),
    }
  }
  if (!present) return null
  const values = { number: String(present.number), passed: String(present.passed), steps: String(present.steps) }
  const before =
    isLater && accepted ? `${t('sandbox.functions.passed_before', { number: String(accepted.number) })} ` : ''
  switch (state) {
    case 'no_run':
      return null
    case 'under_way':
      return {
        text: before + t('sandbox.functions.present', values),
        href: '/sandbox/run',
        link: t('sandbox.functions.to_run'),
      }
    case 'all_passed':
      return {
        text: before + t('sandbox.functions.all_passed', values),
        href: '/sandbox/run#acceptance',
        link: t('sandbox.run.to_acceptance'),
      }
    case 'accepted':
      return {
        text: t('sandbox.functions.accepted', { ...values, at: '\n' }),
        ...(accepted && { at: accepted.passed_at.toISOString() }),
        href: '/sandbox/run#acceptance',
        link: t('sandbox.functions.to_accepted'),
      }
  }
}

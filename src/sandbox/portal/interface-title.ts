import { type Locale, type Translate, translator } from '../../platform/lib/web/locale.ts'
import { interfaceNamed } from '../../ticketing/interfaces/index.ts'
import type { NoticeName } from './docs/anchor.ts'

/** The name of an interface in the reader's language; any other text as it is. */
export const interfaceName = (name: string, t: Translate): string =>
  interfaceNamed(name) ? t(`sandbox.interface.${name.replaceAll('-', '_')}`) : name

/** Title of an interface; undefined for any other text. */
export const interfaceTitle = (name: string, locale: Locale): string | undefined =>
  interfaceNamed(name) && interfaceName(name, translator(locale))

const NOTICES = {
  'deal-change': 'sandbox.docs.notice_deal_change',
  consume: 'sandbox.docs.notice_consume',
  refund: 'sandbox.docs.notice_refund',
  pay: 'sandbox.docs.notice_pay',
  reschedule: 'sandbox.docs.notice_reschedule',
  'level-prices': 'sandbox.docs.notice_level_prices',
} as const satisfies Record<NoticeName, string>

const isNotice = (name: string): name is NoticeName => name in NOTICES

/** The name of an interface or a notice in the reader's language; any other text as it is. */
export const messageName = (name: string, t: Translate): string =>
  isNotice(name) ? t(NOTICES[name]) : interfaceName(name, t)

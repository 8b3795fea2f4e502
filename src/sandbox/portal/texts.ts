import type { OutputOf } from '../../platform/lib/json/input.ts'
import { type Detail, filled, type LocalizedText, type TextId } from '../../platform/lib/localized-text.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { readTexts } from '../../platform/lib/root.ts'
import { keyOf, type Locale, type Translate } from '../../platform/lib/web/locale.ts'
import { WORDS } from '../../platform/lib/web/worded.ts'
import { interfaceNamed } from '../../ticketing/interfaces/index.ts'
import type { MemberRefusal } from '../../ticketing/members/index.ts'
import { EXPLANATIONS, TOLERATED } from '../../ticketing/mws/index.ts'
import { ORDER_STATES, REFUND_STATES, type showOrder } from '../../ticketing/orders/index.ts'
import type { ContactRole } from '../../ticketing/partners/index.ts'
import type { RunRefusal } from '../certification/index.ts'
import type { CheckId } from '../checks/index.ts'
import type { Choice, FunctionId } from '../test-plan/index.ts'
import { NOTICES } from './docs/notices.ts'

const MISTAKE_TEXTS: Readonly<Record<Locale, Readonly<Record<string, string>>>> = {
  en: EXPLANATIONS,
  'zh-CN': readTexts('mistakes.zh-CN'),
}

/** Explains a signature mistake and how to fix it. */
export const explainMistake = (locale: Locale, name: string): string => MISTAKE_TEXTS[locale][name] ?? name

/** Other texts than names of interfaces are returned unchanged. */
export const interfaceName = (name: string, t: Translate): string =>
  interfaceNamed(name) ? t(keyOf('sandbox.interface.', name)) : name

/** Other texts than names of interfaces or notices are returned unchanged. */
export const messageName = (name: string, t: Translate): string =>
  NOTICES.some((notice) => notice.name === name) ? t(keyOf('sandbox.docs.notice_', name)) : interfaceName(name, t)

/** Ids of steps, checks and functions determine the keys of their texts in views/locales. */

const keyPart = (id: string): string => id.replaceAll('-', '_')

/** The name of what a run has stored; its id if only another release knows it. */
const storedName = (key: string, id: string, t: Translate): string => (t.has(key) ? t(key) : id)

export const stepName = (id: string, t: Translate): string => storedName(`sandbox.step.${keyPart(id)}.name`, id, t)

/** What the person does now. */
export const stepTodo = (id: string, t: Translate): string => t(`sandbox.step.${keyPart(id)}.todo`)

/** Failed checks have names of their own, which say what went wrong. */
export const checkText = (id: CheckId, t: Translate, passed = true): string =>
  storedName(`sandbox.${passed ? 'check' : 'check_failed'}.${keyPart(id)}`, id, t)

export const functionName = (id: string, t: Translate): string => storedName(`sandbox.function.${keyPart(id)}`, id, t)

export const productName = (role: keyof Choice['products'], t: Translate): string => t(`sandbox.product.${role}`)

/** One sentence about it. */
export const functionAbout = (id: FunctionId, t: Translate): string => t(`sandbox.function_about.${keyPart(id)}`)

export const refusalText = (reason: RunRefusal['reason'], t: Translate): string => t(`sandbox.refusal.${reason}`)

/** Reasons that are signature mistakes of the same name. */
export const MISTAKES_ALONE: readonly TextId[] = TOLERATED

/** A text in the reader's language. */
export function localizedText(text: LocalizedText, t: Translate): string {
  if (MISTAKES_ALONE.includes(text.id)) return explainMistake(t.locale, text.id)
  return filled(text, WORDS[t.locale][text.id], (value, name) => shownValueOf(text.id, name, detailText(value, t), t))
}

/** The record whose states are in the values `state` and `to` of a text. */
const STATES_IN: Readonly<Partial<Record<TextId, StatedRecord>>> = {
  'call-in-progress': 'order',
  'status-of-issued': 'order',
  'order-cannot-become': 'order',
  'refund-decided': 'refund',
  'refund-cannot-become': 'refund',
  'voucher-is': 'voucher',
  'list-missing-marked': 'voucher',
}

/** Names interfaces, explains mistakes and, in Chinese, translates states; other values stay as they are. */
function shownValueOf(text: TextId, name: string, value: string, t: Translate): string {
  if (name === 'interface') return interfaceName(value, t)
  const record = name === 'state' || name === 'to' ? STATES_IN[text] : undefined
  if (record && t.locale !== 'en') return recordStateText(record, value, t)
  if (name !== 'mistakes') return value
  return value
    .split(', ')
    .map((mistake) => explainMistake(t.locale, mistake))
    .join(t.locale === 'zh-CN' ? '' : ' ')
}

/** A detail in the reader's language. */
export const detailText = (detail: Detail, t: Translate): string =>
  typeof detail === 'string' ? detail : localizedText(detail, t)

/** A detail of a check; states of orders and refunds are explained. */
export function valueText(id: CheckId, detail: Detail, t: Translate): string {
  const state = typeof detail === 'string' ? detail : detail.values.state
  if (typeof state !== 'string') return detailText(detail, t)
  const means = stateText(id, state, t)
  const text = detailText(detail, t)
  return means === undefined ? text : t('sandbox.log.state', { state: text, means })
}

function stateText(id: CheckId, state: string, t: Translate): string | undefined {
  const record = id === 'order-state' ? 'order' : id === 'refund-state' ? 'refund' : undefined
  return record && STATES[record].includes(state) ? recordStateText(record, state, t) : undefined
}

type VoucherState = OutputOf<typeof showOrder>['order']['vouchers'][number]['state']
const VOUCHERS: readonly VoucherState[] = ['unused', 'used', 'refunded', 'void']

const STATES = { order: Object.keys(ORDER_STATES), refund: Object.keys(REFUND_STATES), voucher: VOUCHERS } as const
type StatedRecord = keyof typeof STATES

/** The name of a state; states that only a newer version knows are returned unchanged. */
export const recordStateText = (record: StatedRecord, state: string, t: Translate): string =>
  (STATES[record] as readonly string[]).includes(state) ? t(`sandbox.${record}_state.${state}`) : state

export const memberRefusalText = (reason: MemberRefusal['reason'], t: Translate): string =>
  t(`sandbox.members.refusal.${reason}`)

export const contactName = (role: ContactRole, t: Translate): string => t(`sandbox.told.${role}`)

export const roleName = (role: MemberRole, t: Translate): string => t(`sandbox.members.role.${role}`)

import type { Detail } from '../lib/said.ts'

/** Checks of every answer and notice, and what any step may find out before its own: they are in no step's `expects`. */
export const COMMON_CHECKS = [
  'reached',
  'http-status',
  'content-type',
  'answer-time',
  'answer-size',
  'encryption',
  'json',
  'code',
  'usual-code',
  'envelope',
  'refusal-reason',
  'fields',
  'soft-fields',
  'plausible',
  'no-secrets',
  'partner-id',
  'order-id',
  'same-answer',
  'earlier-step',
  'platform',
] as const
export type CommonCheck = (typeof COMMON_CHECKS)[number]

/** Every check that a step can make. Adding one: its id here, and its text `sandbox.check.<id>` in views/locales. */
export const CHECK_IDS = [
  ...COMMON_CHECKS,
  'signature-checked',
  'client-checked',
  'date-checked',
  'product-found',
  'not-empty',
  'in-range',
  'order-state',
  'same-order',
  'same-vouchers',
  'distinct-orders',
  'refund-state',
  'refund-id',
  'reschedule-count',
  'order-status',
  'vouchers',
  'voucher-list',
  'notice-arrived',
  'notice-accepted',
  'quantities',
] as const

export type CheckId = (typeof CHECK_IDS)[number]

/** A failed check of level `error` fails the step; one of level `warning` is only shown. */
export type Level = 'error' | 'warning'

/** The checks that a step makes of its own, and the level of each. */
export type ExpectedChecks = Readonly<Partial<Record<CheckId, Level>>>

/** What one check came to. */
export interface Finding {
  readonly id: CheckId
  readonly passed: boolean
  /** Left out: `error`. */
  readonly level?: Level
  /** The field, such as `body.partnerOrderId`. */
  readonly path?: string
  readonly expected?: Detail
  readonly actual?: Detail
  /** Anchor in the field reference. */
  readonly doc?: string
}

import type { Detail } from '../lib/said.ts'

/** Every check that a step can make. Adding one: its id here, and its text `sandbox.check.<id>` in views/locales. */
export const CHECK_IDS = [
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
  'signature-checked',
  'client-checked',
  'date-checked',
  'refusal-reason',
  'fields',
  'soft-fields',
  'plausible',
  'no-secrets',
  'partner-id',
  'order-id',
  'product-found',
  'not-empty',
  'in-range',
  'order-state',
  'same-order',
  'same-vouchers',
  'same-answer',
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
  'earlier-step',
  'platform',
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

import { z } from 'zod'
import { storedDetail } from '../../platform/lib/localized-text.ts'
import type { CallRecord } from '../../ticketing/partner-calls/index.ts'

export type ExaminedCall = Omit<CallRecord, 'by_hand'>

/** Checks that any step can make, so that no step lists them in `expects`. */
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
  'refund-id',
  'same-answer',
  'earlier-step',
  'platform',
] as const
export type CommonCheck = (typeof COMMON_CHECKS)[number]

/**
 * Every check that a step can make. To add one: its id here, and its texts `sandbox.check.<id>` and
 * `sandbox.check_failed.<id>` in views/locales.
 */
export const CHECK_IDS = [
  ...COMMON_CHECKS,
  'signature-checked',
  'client-checked',
  'date-checked',
  'product-found',
  'dated-product',
  'not-empty',
  'in-range',
  'order-state',
  'same-order',
  'same-vouchers',
  'distinct-orders',
  'refund-state',
  'reschedule-count',
  'order-status',
  'vouchers',
  'voucher-list',
  'notice-arrived',
  'notice-accepted',
  'quantities',
] as const

export type CheckId = (typeof CHECK_IDS)[number]

const level = z.enum(['error', 'warning'])
/** A failed check of level `error` fails the step; a `warning` is only shown. */
export type Level = z.output<typeof level>

/** The step's own checks, with their levels. */
export type ExpectedChecks = Readonly<Partial<Record<CheckId, Level>>>

/**
 * An object in a run's log. Keeps fields and ids that a newer version has stored, although the types do not name them.
 */
export const loggedObject = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.looseObject(shape) as unknown as z.ZodObject<Shape>
const loggedId = <Id extends string>() => z.custom<Id>((id) => typeof id === 'string')

export const finding = loggedObject({
  id: loggedId<CheckId>(),
  passed: z.boolean(),
  /** Defaults to `error`. */
  level: level.exactOptional(),
  /** The field, such as `body.partnerOrderId`. */
  path: z.string().exactOptional(),
  expected: storedDetail.exactOptional(),
  /** `expected` says what is wrong with the field (`is required`), not what it should be. */
  problem: z.boolean().exactOptional(),
  actual: storedDetail.exactOptional(),
  /** Anchor in the field reference. */
  doc: z.string().exactOptional(),
})
/** The result of one check. */
export type Finding = Readonly<z.output<typeof finding>>

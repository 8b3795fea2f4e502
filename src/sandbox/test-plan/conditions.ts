import { z } from 'zod'
import { DAY_S } from '../../platform/lib/clock.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { type CallFaults, SLOW_MS } from '../../ticketing/partner-calls/index.ts'

/** The furthest day that a run can be moved to. */
export const MAX_DAYS_AHEAD = 30

/** The longest that a step can wait for a notice. */
export const MAX_WAIT_MINUTES = 60

/** What a run pretends (date, faults) and how long its steps wait; changeable while it is under way. */
export const conditions = z.strictObject({
  /** Days by which the run is ahead: of travel dates, calendars and refund times. Date headers stay right. */
  days_ahead: z.coerce.number().int().min(0).max(MAX_DAYS_AHEAD).default(0),
  /** Minutes that a step waits for a notice of the partner; 0: as long as the service says (SANDBOX_WAIT_S). */
  wait_minutes: z.coerce.number().int().min(0).max(MAX_WAIT_MINUTES).default(0),
  /** Each call is sent twice, as by a platform that repeats itself. */
  sends_twice: z.boolean().default(false),
  /** The body of each request comes in two parts, with two seconds in between. */
  is_slow: z.boolean().default(false),
  /** After each call about an order the one before it arrives once more. */
  out_of_order: z.boolean().default(false),
})
export type Conditions = z.output<typeof conditions>

/** Conditions as a run has stored them: bounds may have been others, and a newer process may know more of them. */
export const storedConditions = z.looseObject({
  days_ahead: z.number().default(0),
  wait_minutes: z.number().default(0),
  sends_twice: z.boolean().default(false),
  is_slow: z.boolean().default(false),
  out_of_order: z.boolean().default(false),
})

/** Conditions that are on or off. */
export const FAULTS = ['sends_twice', 'is_slow', 'out_of_order'] as const satisfies (keyof Conditions)[]

export const NO_CONDITIONS: Conditions = conditions.parse({})

/** The faults that calls to the partner are made with. */
export const callFaultsFor = ({ days_ahead, sends_twice, is_slow, out_of_order }: Conditions): CallFaults => ({
  aheadS: days_ahead * DAY_S,
  sendTwice: sends_twice,
  slow: is_slow,
  outOfOrder: out_of_order,
})

/** The lines about them in the log of an attempt. */
export const conditionLogLines = ({ days_ahead, sends_twice, is_slow, out_of_order }: Conditions): LocalizedText[] => [
  ...(days_ahead > 0 ? [localized('days-ahead', { days: String(days_ahead) })] : []),
  ...(sends_twice ? [localized('sent-twice')] : []),
  ...(is_slow ? [localized('sent-slowly', { seconds: String(SLOW_MS / 1_000) })] : []),
  ...(out_of_order ? [localized('sent-late')] : []),
]

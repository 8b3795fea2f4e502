import { z } from 'zod'
import { DAY_S } from '../../platform/lib/clock.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { type CallFaults, SLOW_MS } from '../../ticketing/partner-calls/index.ts'

export const MAX_DAYS_AHEAD = 30

export const MAX_WAIT_MINUTES = 60

/** Simulated date and faults of a run, and how long its steps wait; can be changed while it is under way. */
export const conditions = z.strictObject({
  /** Days by which travel dates, calendars and refund times are moved ahead. Date headers stay right. */
  days_ahead: z.coerce.number().int().min(0).max(MAX_DAYS_AHEAD).default(0),
  /** Minutes that a step waits for a notice; 0: SANDBOX_WAIT_S. */
  wait_minutes: z.coerce.number().int().min(0).max(MAX_WAIT_MINUTES).default(0),
  /** Each call is sent twice. */
  sends_twice: z.boolean().default(false),
  /** The body of each request is sent in two parts, two seconds apart. */
  is_slow: z.boolean().default(false),
  /** After each call about an order, the previous one is sent again. */
  out_of_order: z.boolean().default(false),
})
export type Conditions = z.output<typeof conditions>

/** Stored conditions: they may follow older bounds, and a newer version may know more of them. */
export const storedConditions = z.looseObject({
  days_ahead: z.number().default(0),
  wait_minutes: z.number().default(0),
  sends_twice: z.boolean().default(false),
  is_slow: z.boolean().default(false),
  out_of_order: z.boolean().default(false),
})

export const FAULTS = ['sends_twice', 'is_slow', 'out_of_order'] as const satisfies (keyof Conditions)[]

export const NO_CONDITIONS: Conditions = conditions.parse({})

export const callFaultsFor = ({ days_ahead, sends_twice, is_slow, out_of_order }: Conditions): CallFaults => ({
  aheadS: days_ahead * DAY_S,
  sendTwice: sends_twice,
  slow: is_slow,
  outOfOrder: out_of_order,
})

/** The lines about conditions in an attempt's log. */
export const conditionLogLines = ({ days_ahead, sends_twice, is_slow, out_of_order }: Conditions): LocalizedText[] => [
  ...(days_ahead > 0 ? [localized('days-ahead', { days: String(days_ahead) })] : []),
  ...(sends_twice ? [localized('sent-twice')] : []),
  ...(is_slow ? [localized('sent-slowly', { seconds: String(SLOW_MS / 1_000) })] : []),
  ...(out_of_order ? [localized('sent-late')] : []),
]

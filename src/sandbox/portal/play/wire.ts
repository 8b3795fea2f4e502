import { z } from 'zod'
import { date, money } from '../../../platform/lib/json/fields.ts'
import { FORGERIES } from '../../../ticketing/partner-calls/index.ts'
import { product } from '../../test-plan/index.ts'
import { orderParams } from '../traffic/wire.ts'

/** Maximum characters of a hand-written body. */
export const MAX_WRITTEN = 16_384

/** How a call is signed: correctly, or forged so that it has to be refused. */
export const SIGNINGS = ['right', ...FORGERIES] as const
export type PlaySigning = (typeof SIGNINGS)[number]

/** The expected response: `success` (200), `later` (such as 598), `either`, or any `failure`. */
export const EXPECTED_OUTCOMES = ['success', 'later', 'either', 'failure'] as const
export type ExpectedOutcome = (typeof EXPECTED_OUTCOMES)[number]

export const writtenForm = z.object({
  body: z.string(),
  sign: z.enum(SIGNINGS).default('right'),
  expect: z.enum(EXPECTED_OUTCOMES).default('success'),
})
export type Written = z.output<typeof writtenForm>

/** Query of an interface's page. Invalid values are ignored. */
export const playQuery = z.object({
  call: z.guid().optional().catch(undefined),
  expect: z.enum(EXPECTED_OUTCOMES).catch('success'),
  example: z.literal('1').optional().catch(undefined),
})

const given = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (typeof value === 'string' && value.trim() === '' ? undefined : value), schema.optional())

/** The order form; empty fields are left to the platform. */
export const playOrderForm = z.object({
  product,
  quantity: z.coerce.number().int().min(1).max(10),
  travel_date: given(date()),
  unit_price: given(money),
  buy_price: given(money),
})
export type PlayOrder = z.output<typeof playOrderForm>
export const PLAY_ORDER_FIELDS = ['product', 'quantity', 'travel_date', 'unit_price', 'buy_price'] as const

const ACTIONS = ['pay', 'query', 'refund', 'close'] as const
export type Action = (typeof ACTIONS)[number]

export const playActionParams = orderParams.extend({ action: z.enum(ACTIONS) })

export const refundForm = z.object({ quantity: z.coerce.number().int().min(1).max(1_000) })

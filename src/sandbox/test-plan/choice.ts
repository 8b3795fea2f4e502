import { z } from 'zod'
import { issue, problem } from '../../platform/lib/json/field-problem.ts'
import { date, money } from '../../platform/lib/json/fields.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { listed, localized } from '../../platform/lib/localized-text.ts'
import { isStorable } from '../../platform/lib/storable.ts'
import { addDays, beijingDate } from '../../platform/lib/time-zone.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { conditions, storedConditions } from './conditions.ts'
import { FUNCTION_IDS, type FunctionId, missingKinds, REQUIRED_FUNCTIONS } from './functions.ts'

/** A partnerDealId as people type it. */
export const product = z.string().trim().min(1).max(255).refine(isStorable, problem('must-have-no-nul'))

const products = z.strictObject({
  main: product,
  /** Tickets are issued later (598). */
  later: product.optional(),
  /** Refunded after review (602). */
  review: product.optional(),
  /** With a level price calendar. */
  level: product.optional(),
  sold_out: product.optional(),
})

export type ProductRole = keyof z.output<typeof products>
export const PRODUCT_ROLES: readonly ProductRole[] = products.keyof().options

/** What a run tests, and with which products (partnerDealId). Products left out default to the main one. */
const chosen = z.strictObject({
  functions: listOf('functions', z.enum(FUNCTION_IDS)),
  products,
  /** Travel day of dated products; defaults to tomorrow in Beijing. */
  travel_date: date().optional(),
  /** Yuan per ticket; defaults to the pulled product or price calendar. */
  unit_price: money.optional(),
  buy_price: money.optional(),
  quantity: z.coerce.number().int().min(1).max(10).default(2),
  /** The only part that can change while the run is under way. */
  conditions: conditions.optional(),
})

/** Functions that tell us prices. Without any of them the choice has to name the prices. */
const PRICED: readonly FunctionId[] = ['product-pull', 'price-calendar', 'level-price-calendar']

export const choice = chosen.transform(complete).superRefine(({ functions, products, ...rest }, context) => {
  for (const field of ['unit_price', 'buy_price'] as const) {
    if (rest[field] !== undefined || PRICED.some((id) => functions.includes(id))) continue
    context.addIssue({ ...issue('required-without', { functions: listed('both', PRICED) }), path: [field] })
  }
  for (const { ways } of missingKinds(functions)) {
    context.addIssue({ ...issue('must-have-function', { functions: listed('either', ways) }), path: ['functions'] })
  }
  if (functions.includes('sold-out') && products.sold_out === undefined) {
    context.addIssue({ ...issue('required-for-sold-out'), path: ['products', 'sold_out'] })
  }
})
export type Choice = z.output<typeof choice>

/** A stored choice: it may follow older rules, and a newer version may know more functions. */
export const storedChoice: z.ZodType<Choice> = z.looseObject({
  functions: z.array(z.custom<FunctionId>((id) => typeof id === 'string')),
  products: z.looseObject({
    main: z.string(),
    later: z.string().optional(),
    review: z.string().optional(),
    level: z.string().optional(),
    sold_out: z.string().optional(),
  }),
  travel_date: z.string().optional(),
  unit_price: z.number().optional(),
  buy_price: z.number().optional(),
  quantity: z.number(),
  conditions: storedConditions.optional(),
})

/** Adds the required functions; each function once, in the order of FUNCTIONS. */
function complete({ functions, ...rest }: z.output<typeof chosen>): z.output<typeof chosen> {
  const all = new Set<FunctionId>([...functions, ...REQUIRED_FUNCTIONS])
  return { ...rest, functions: FUNCTION_IDS.filter((id) => all.has(id)) }
}

export const offers = ({ functions }: Choice, ...wanted: readonly FunctionId[]): boolean =>
  wanted.every((id) => functions.includes(id))

/** `YYYY-MM-DD`, in Beijing. */
export const travelDate = ({ travel_date }: Choice, now: Date): string => travel_date ?? addDays(beijingDate(now), 1)

/** Whether the travel day of this choice is over: a run may have been left alone for days. */
export const isDayOver = ({ travel_date: day }: Pick<Choice, 'travel_date'>, now: Date): boolean =>
  day !== undefined && day < beijingDate(now)

/** Returns the day; throws if it is over. */
export function requireDayAhead(day: string, now: Date): string {
  if (isDayOver({ travel_date: day }, now)) throw new RefusedRequest(localized('travel-date-over', { day }))
  return day
}

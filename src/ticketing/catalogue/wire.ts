import { z } from 'zod'
import { filterText, pageInput } from '../../platform/db/page.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { date, storable } from '../../platform/lib/json/fields.ts'
import { onePartner } from '../partners/index.ts'

/** Input of operators. Names are those of the columns; 64-bit ids come as number or text and are kept exact. */

export const oneProduct = onePartner.extend({ partner_deal_id: storable })

export const SALE_STATES = ['unknown', 'on_sale', 'off_sale'] as const
export type SaleState = (typeof SALE_STATES)[number]

export const productFilter = onePartner.extend({
  sale_state: z.enum(SALE_STATES).optional(),
  /** A part of it, whatever the case of its letters. */
  title: filterText(255).optional(),
  ...pageInput(z.tuple([z.string()]), { usual: 1_000 }),
})
export type ProductFilter = z.output<typeof productFilter>

/** One product, or all. */
export const catalogueOrOne = onePartner.extend({ partner_deal_id: storable.optional() })

export const priceRange = oneProduct
  .extend({
    /** Dates, inclusive; today and the 90 days after `from` if left out. */
    from: date().optional(),
    to: date().optional(),
    /** Pulls the level price calendar (sessions, kinds of tickets); by default the kind that was pulled before. */
    level: z.boolean().optional(),
  })
  .refine(({ from = '', to }) => to === undefined || from <= to, { path: ['to'], ...problem('to-before-from') })

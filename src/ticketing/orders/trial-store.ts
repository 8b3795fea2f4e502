import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { ORDER_STATE_NAMES } from './states.ts'

/** As long as calls are kept. */
export const TRIAL_KEPT_S = 30 * DAY_S

const trialOrder = z.object({
  order_id: z.coerce.bigint(),
  partner_deal_id: z.string(),
  partner_order_id: z.string().nullable(),
  state: z.enum(ORDER_STATE_NAMES),
  quantity: z.number(),
  used_quantity: z.number(),
  refunded_quantity: z.number(),
  created_at: z.date(),
})
type TrialOrder = z.output<typeof trialOrder>

const FIELDS = sql.part`order_id, partner_deal_id, partner_order_id, state, quantity, used_quantity, refunded_quantity,
  created_at`

export const trialOrders = (db: Db, partnerId: bigint, limit: number): Promise<TrialOrder[]> =>
  db.many(
    trialOrder,
    sql`select ${FIELDS} from ticket_order where partner_id = ${partnerId} and delete_after is not null
        order by created_at desc, order_id desc limit ${limit}`,
  )

/** Undefined also for another partner's order, and for one that is no trial. */
export const findTrialOrder = (db: Db, partnerId: bigint, orderId: bigint): Promise<TrialOrder | undefined> =>
  db.maybe(
    trialOrder,
    sql`select ${FIELDS} from ticket_order
        where order_id = ${orderId} and partner_id = ${partnerId} and delete_after is not null`,
  )

export const hasSold = (db: Db, partnerId: bigint): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select exists (select 1 from ticket_order where partner_id = ${partnerId} and not sandbox) as sold`,
  )

const namedOrder = z.object({
  order_id: z.coerce.bigint(),
  partner_id: z.coerce.bigint(),
  partner_order_id: z.string().nullable(),
  sold: z.boolean(),
  vouchers: z.array(z.string()),
  refund_ids: z.array(z.string()),
})
/** An order that the body of a call names, with its other ids. */
export type NamedOrder = z.output<typeof namedOrder>

const MAX_ID = 2n ** 63n - 1n
/** Ids of 63 bits may be the same double if they are no further apart. */
const DOUBLE_SPACING = 1_024n

/**
 * `sold` is also true if the partner's program could confuse this order with a sold one: because it reads ids as
 * doubles, or gave both the same partnerOrderId.
 */
export const findNamedOrder = async (db: Db, orderId: bigint): Promise<NamedOrder | undefined> => {
  if (orderId < 1n) return undefined
  const last = orderId > MAX_ID - DOUBLE_SPACING ? MAX_ID : orderId + DOUBLE_SPACING
  return db.maybe(
    namedOrder,
    sql`select o.order_id, o.partner_id, o.partner_order_id,
          array (select voucher from voucher where order_id = o.order_id) as vouchers,
          array (select refund_id from refund where order_id = o.order_id) as refund_ids,
          not o.sandbox
          or exists (select 1 from ticket_order t where t.order_id between ${orderId - DOUBLE_SPACING} and ${last}
            and t.order_id::float8 = o.order_id::float8 and t.partner_id = o.partner_id and not t.sandbox)
          or exists (select 1 from ticket_order t where t.partner_order_id = o.partner_order_id
            and t.partner_id = o.partner_id and not t.sandbox) as sold
        from ticket_order o where o.order_id = ${orderId}`,
  )
}

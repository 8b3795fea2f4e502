import { z } from 'zod'
import { DAY_S, type Retention } from '../db/retention.ts'
import { type Db, sql } from '../db/sql.ts'
import { ORDER_HISTORY } from '../history/index.ts'
import { ORDER_DATA_RETENTION } from './personal-data-store.ts'
import { ORDER_STATE_NAMES } from './states.ts'

/** The SQL of orders that were made to try something. */

/** As long as the calls about them are kept. */
export const TRIAL_KEPT_S = 30 * DAY_S

/** An order says itself when it may go; its vouchers, refunds, lists and history go with it. */
export const ORDER_RETENTION: readonly Retention[] = [
  { table: 'ticket_order', key: ['order_id'], column: 'delete_after', keptS: () => 0, also: ORDER_HISTORY },
  ...ORDER_DATA_RETENTION,
]

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
export type TrialOrder = z.output<typeof trialOrder>

const FIELDS = sql.part`order_id, partner_deal_id, partner_order_id, state, quantity, used_quantity, refunded_quantity,
  created_at`

/** The newest of a partner, newest first. */
export const trialOrders = (db: Db, partnerId: bigint, limit: number): Promise<TrialOrder[]> =>
  db.many(
    trialOrder,
    sql`select ${FIELDS} from ticket_order where partner_id = ${partnerId} and delete_after is not null
        order by created_at desc, order_id desc limit ${limit}`,
  )

/** Undefined for an order of another kind or partner, too. */
export const findTrialOrder = (db: Db, partnerId: bigint, orderId: bigint): Promise<TrialOrder | undefined> =>
  db.maybe(
    trialOrder,
    sql`select ${FIELDS} from ticket_order
        where order_id = ${orderId} and partner_id = ${partnerId} and delete_after is not null`,
  )

/** Whether the partner has sold this order to a visitor. */
export const isSold = async (db: Db, partnerId: bigint, orderId: bigint): Promise<boolean> =>
  (await db.maybe(
    z.object({ order_id: z.coerce.bigint() }),
    sql`select order_id from ticket_order where order_id = ${orderId} and partner_id = ${partnerId} and not sandbox`,
  )) !== undefined

import { z } from 'zod'
import { columnsOf, valuesOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { type Cause, type Difference, ORDER_CHANGES } from '../../platform/history/index.ts'
import { storable, storedDetail, storedJson } from '../../platform/lib/localized-text.ts'
import { REFUND_STATE_NAMES } from './states.ts'

const money = z.coerce.number()

const refundRow = z.object({
  partner_id: z.coerce.bigint(),
  refund_id: z.string(),
  order_id: z.coerce.bigint(),
  state: z.enum(REFUND_STATE_NAMES),
  refund_quantity: z.number(),
  vouchers: z.array(z.string()),
  refund_price: money,
  refund_fee: money,
  decision_code: z.number().nullable(),
  reason: storedDetail.nullable(),
  created_at: z.date(),
  updated_at: z.date(),
})
export type RefundRow = z.output<typeof refundRow>

const COLUMNS = columnsOf(Object.keys(refundRow.shape))

/** Takes no lock: refunds only change under the lock of their order. */
export const findRefund = (db: Db, partnerId: bigint, refundId: string): Promise<RefundRow | undefined> =>
  db.maybe(refundRow, sql`select ${COLUMNS} from refund where partner_id = ${partnerId} and refund_id = ${refundId}`)

export const refundsOf = (db: Db, orderId: bigint): Promise<RefundRow[]> =>
  db.many(refundRow, sql`select ${COLUMNS} from refund where order_id = ${orderId} order by created_at, refund_id`)

export const refundedTickets = (refunds: readonly RefundRow[]): number =>
  refunds.reduce((sum, { state, refund_quantity }) => sum + (state === 'refunded' ? refund_quantity : 0), 0)

export type RefundUpdate = Readonly<Pick<RefundRow, 'state' | 'decision_code' | 'reason'>>

export const saveRefund = (
  db: Db,
  refund: RefundRow,
  update: RefundUpdate,
  change: Difference,
  { cause, now }: { cause: Cause; now: Date },
): Promise<number> =>
  db.exec(
    sql`with saved as (
      update refund set state = ${update.state}, decision_code = ${update.decision_code}, reason = ${storable(update.reason)},
        updated_at = ${now}
      where partner_id = ${refund.partner_id} and refund_id = ${refund.refund_id}
    )
    insert into ${ORDER_CHANGES}
    values (${now}, ${refund.partner_id}, 'refund', ${refund.refund_id}, ${refund.order_id}, ${cause.kind},
      ${cause.id}, ${storedJson(change)}::jsonb)`,
  )

const newRefundRow = refundRow.omit({ decision_code: true, reason: true, created_at: true, updated_at: true })
export type NewRefundRow = Readonly<z.output<typeof newRefundRow>>

const OF_NEW = Object.keys(newRefundRow.shape)

/** Under the lock of the order. The id of another order's refund fails the transaction. */
export const insertRefund = (db: Db, refund: NewRefundRow, { cause, now }: { cause: Cause; now: Date }) =>
  db.one(
    refundRow,
    sql`with stored as (
      insert into refund (${columnsOf(OF_NEW)}, created_at, updated_at)
      values (${valuesOf(refund, OF_NEW)}, ${now}, ${now})
      returning ${COLUMNS}
    ), history as (
      insert into ${ORDER_CHANGES}
      select ${now}, partner_id, 'refund', refund_id, order_id, ${cause.kind}, ${cause.id},
        jsonb_build_object('state', jsonb_build_array(null, state))
      from stored
    )
    select ${COLUMNS} from stored`,
  )

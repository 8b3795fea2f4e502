import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** The SQL that finds what was said on the wire during a step, and the orders of a run. */

const received = z.object({
  id: z.string(),
  path: z.string(),
  reason: z.string().nullable(),
  body: z.string(),
  /** Whether it is known that the partner sent it. */
  verified: z.boolean(),
})
/** A call that names the partner; `reason` is why it was refused, null of an accepted notice. */
export type Received = z.output<typeof received>

export interface Incoming {
  readonly partnerId: bigint
  /** The endpoint under every prefix. */
  readonly paths: readonly string[]
  /** From when on accepted and refused ones count. */
  readonly accepted: Date
  readonly refused: Date
  /** Ids of those that are known. */
  readonly seen: readonly string[]
}

/** Calls to a path in the order in which they came, 200 at most: who asks on with these as `seen` misses none. */
export const receivedSince = (db: Db, { partnerId, paths, accepted, refused, seen }: Incoming): Promise<Received[]> =>
  db.many(
    received,
    sql`select id, path, reason, body, verified from (
          select notice_id as id, path, null as reason, body, true as verified, received_at from notice
          where partner_id = ${partnerId} and received_at >= ${accepted}
          union all
          select call_id, path, reason, body, verified, received_at from rejected_call
          where partner_id = ${partnerId} and received_at >= ${refused}
        ) incoming
        where path = any (${paths}::text[]) and id <> all (${seen}::uuid[]) order by received_at limit 200`,
  )

export const linkOrder = (
  db: Db,
  order: { orderId: bigint; runId: string; role: string },
  now: Date,
): Promise<number> =>
  db.exec(
    sql`insert into sandbox_order (order_id, run_id, role, created_at)
        values (${order.orderId}, ${order.runId}, ${order.role}, ${now})`,
  )

/** The newest order of that role. */
export const findLinkedOrder = async (db: Db, runId: string, role: string): Promise<bigint | undefined> => {
  const found = await db.maybe(
    z.object({ order_id: z.coerce.bigint() }),
    sql`select order_id from sandbox_order where run_id = ${runId} and role = ${role}
        order by created_at desc, order_id limit 1`,
  )
  return found?.order_id
}

const proof = z.object({ consumed: z.array(z.string()), refunded: z.array(z.string()) })
/** Ids of the run's orders that the platform's own records show as consumed or refunded, at least in part. */
export type Proof = z.output<typeof proof>

export const proofOf = (db: Db, runId: string): Promise<Proof> =>
  db.one(
    proof,
    sql`select
          coalesce(array_agg(o.order_id::text order by o.order_id) filter (where o.used_quantity > 0), '{}') as consumed,
          coalesce(array_agg(o.order_id::text order by o.order_id) filter (where exists (
            select 1 from refund r where r.order_id = o.order_id and r.state = 'refunded')), '{}') as refunded
        from sandbox_order s join ticket_order o using (order_id)
        where s.run_id = ${runId} and o.sandbox`,
  )

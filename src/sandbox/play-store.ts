import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** Calls among which the last body is looked for. */
const LOOKED_THROUGH = 1_000

const sent = z.object({ request_body: z.string() })

/** The body that was last sent to an interface, among the newest calls to the partner. */
export const lastBodySent = async (db: Db, partnerId: bigint, name: string): Promise<string | undefined> => {
  const found = await db.maybe(
    sent,
    sql`select request_body from (
          select id, at, name, request_body from sandbox_outgoing
          where partner_id = ${partnerId} order by at desc, id desc limit ${LOOKED_THROUGH}) newest
        where name = ${name} order by at desc, id desc limit 1`,
  )
  return found?.request_body
}

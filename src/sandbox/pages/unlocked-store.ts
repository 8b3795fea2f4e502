import { z } from 'zod'
import { type Db, sql } from '../../db/sql.ts'

/** Whether the partner has passed the signature tool once. */
export const hasSignaturePass = async (db: Db, partnerId: bigint): Promise<boolean> => {
  const { passed } = await db.one(
    z.object({ passed: z.boolean() }),
    sql`select exists (select from signature_pass where partner_id = ${partnerId}) as passed`,
  )
  return passed
}

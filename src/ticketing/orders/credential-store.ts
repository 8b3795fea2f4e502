import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

const credential = z.object({
  voucher: z.string(),
  credential_no: z.string(),
  credential_type: z.literal([0, 1, 2, 3, 4, 5]),
})
/** A document of a real-name order and its code; '' if the document itself opens the gate. */
export type Credential = z.output<typeof credential>

export const credentialsOf = (db: Db, orderId: bigint): Promise<Credential[]> =>
  db.many(
    credential,
    sql`select voucher, credential_no, credential_type from order_credential
        where order_id = ${orderId} order by voucher, credential_no`,
  )

/** Known ones stay as they are; one without a code gets the reported code. At most this many per order are kept. */
export const saveCredentials = (
  db: Db,
  orderId: bigint,
  credentials: readonly Credential[],
  most: number,
): Promise<number> =>
  db.exec(
    sql`with told as (
          select voucher, credential_no, credential_type
          from unnest(${credentials.map((credential) => credential.voucher)}::text[],
            ${credentials.map((credential) => credential.credential_no)}::text[],
            ${credentials.map((credential) => credential.credential_type)}::int[]) as c (voucher, credential_no, credential_type)
        ), without_code as (
          delete from order_credential where order_id = ${orderId} and voucher = ''
            and credential_no in (select credential_no from told where voucher <> '')
        )
        insert into order_credential (order_id, voucher, credential_no, credential_type)
        select ${orderId}, voucher, credential_no, credential_type from told
        limit greatest(0, ${most} - (select count(*)::int from order_credential where order_id = ${orderId}))
        on conflict do nothing`,
  )

import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { exactJson } from '../catalogue/index.ts'

const credential = z.object({
  voucher: z.string(),
  credential_no: z.string(),
  credential_type: z.literal([0, 1, 2, 3, 4, 5]),
})
/** A document of a real-name order and its code, '' if the document itself opens the gate. */
export type Credential = z.output<typeof credential>

export const credentialsOf = (db: Db, orderId: bigint): Promise<Credential[]> =>
  db.many(
    credential,
    sql`select voucher, credential_no, credential_type from order_credential
        where order_id = ${orderId} order by voucher, credential_no`,
  )

/** Known documents stay; one without a code gets the reported code. At most `most` are kept per order. */
export const saveCredentials = (db: Db, orderId: bigint, credentials: readonly Credential[], most: number) =>
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

const entries = exactJson.pipe(z.array(z.unknown()))

const additional = z.object({ voucher_additional: entries, order_additional: entries, additional_left_out: z.number() })
/** Additional lists as received; `additional_left_out` counts the entries that were not kept. */
export type Additional = z.output<typeof additional>

export const findAdditional = (db: Db, orderId: bigint): Promise<Additional | undefined> =>
  db.maybe(
    additional,
    sql`select voucher_additional::text, order_additional::text, left_out as additional_left_out
        from order_additional where order_id = ${orderId}`,
  )

export const saveAdditional = (
  db: Db,
  orderId: bigint,
  kept: { readonly vouchers: string; readonly order: string; readonly leftOut: number },
): Promise<number> =>
  db.exec(
    sql`insert into order_additional (order_id, voucher_additional, order_additional, left_out)
        values (${orderId}, ${kept.vouchers}::jsonb, ${kept.order}::jsonb, ${kept.leftOut})
        on conflict (order_id) do update set voucher_additional = excluded.voucher_additional,
          order_additional = excluded.order_additional, left_out = excluded.left_out`,
  )

import { z } from 'zod'
import { columnsOf, valuesOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'

const testRow = z.object({
  test_id: z.coerce.bigint(),
  tested_at: z.date(),
  /** Sent to the endpoint, or pasted into the page. */
  source: z.enum(['sent', 'pasted']),
  /** Empty if the call passed (diagnose/mistakes.ts). */
  mistakes: z.array(z.string()).readonly(),
  warnings: z.array(z.string()).readonly(),
  /** Whether the sender proved to hold a secret of the partner. */
  verified: z.boolean(),
  method: z.string(),
  path: z.string(),
  date_header: z.string(),
  /** The signature shortened. */
  authorization_header: z.string(),
  string_to_sign: z.string(),
  signed_instead: z.string().nullable(),
})

/** One verdict of the signature tool. */
export type SignatureTest = z.output<typeof testRow>

const COLUMNS = Object.keys(testRow.shape)
const OF_NEW = COLUMNS.filter((name) => name !== 'test_id')

export const insertTest = (db: Db, partnerId: bigint, test: Omit<SignatureTest, 'test_id'>): Promise<bigint> =>
  db.value(
    testRow.shape.test_id,
    sql`insert into signature_test (partner_id, ${columnsOf(OF_NEW)}) values (${partnerId}, ${valuesOf(test, OF_NEW)})
        returning test_id`,
  )

export const deleteTestsBeyond = (db: Db, partnerId: bigint, verified: boolean, kept: number): Promise<number> =>
  db.exec(
    sql`delete from signature_test where partner_id = ${partnerId} and verified = ${verified} and test_id <= (
      select test_id from signature_test where partner_id = ${partnerId} and verified = ${verified}
      order by test_id desc offset ${kept} limit 1)`,
  )

/** Keeps the time of the first pass. */
export const insertPass = (db: Db, partnerId: bigint, now: Date): Promise<number> =>
  db.exec(sql`insert into signature_pass (partner_id, passed_at) values (${partnerId}, ${now}) on conflict do nothing`)

/** Whether this partner has ever passed, with a sent or a pasted call. */
export const hasPassedSignatureTool = ({ db }: Pick<Deps, 'db'>, partnerId: bigint): Promise<boolean> =>
  db.value(z.boolean(), sql`select exists (select 1 from signature_pass where partner_id = ${partnerId}) as passed`)

/** The latest verdicts for this partner and for calls with its clientId, newest first. */
export const listSignatureTests = ({ db }: Pick<Deps, 'db'>, partnerId: bigint): Promise<SignatureTest[]> =>
  db.many(
    testRow,
    sql`select ${columnsOf(COLUMNS)}
        from signature_test where partner_id = ${partnerId} order by test_id desc`,
  )

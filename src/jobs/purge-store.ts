import { z } from 'zod'
import type { Retention, RetentionBatch } from '../db/retention.ts'
import { type Db, sql } from '../db/sql.ts'

/** How many rows a batch has deleted, and the date of the last one. */
const deleted = z.object({ rows: z.number(), last: z.date().nullable() })

/**
 * Deletes the oldest rows by the index on their date. Rows are found and locked first and then deleted by their place
 * (ctid), so a batch reads no page of the big primary keys. Rows that are locked are left out. Without `from` each batch
 * would walk over all that earlier ones have deleted, for as long as an old transaction keeps vacuum from removing it.
 */
export function deleteBatch(
  db: Db,
  { table, column, also }: Pick<Retention, 'table' | 'column' | 'also'>,
  { before, from, limit }: RetentionBatch,
): Promise<z.infer<typeof deleted>> {
  const [rows, date] = [sql.identifier(table), sql.identifier(column)]
  const key = sql.identifier(also?.column ?? column)
  const withThem = also
    ? sql.part`, more as (delete from ${sql.identifier(also.table)} where ${key} in (select key from gone))`
    : sql.part``
  return db.one(
    deleted,
    sql`with gone as (
          delete from ${rows} where ctid = any (array(
            select ctid from ${rows} where ${date} >= ${from} and ${date} < ${before}
            order by ${date} limit ${limit} for update skip locked))
          returning ${date} as at, ${key} as key
        )${withThem}
        select count(*)::int as rows, max(at) as last from gone`,
  )
}

/** Whether this database role may lock and delete rows of the table. */
export const mayDelete = async (db: Db, table: string): Promise<boolean> =>
  (
    await db.one(
      z.object({ may: z.boolean() }),
      sql`select has_table_privilege(${table}, 'delete') and has_table_privilege(${table}, 'update') as may`,
    )
  ).may

import { z } from 'zod'
import type { Retention, RetentionBatch } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

/** How many rows a batch has deleted, and the date of the last one. */
const deleted = z.object({ rows: z.number(), last: z.date().nullable() })

/**
 * Deletes the oldest rows by the index on their date. Rows are found and locked first and then deleted by their primary
 * keys, which mean the same on every shard; arrays, of which PostgreSQL expects few rows, so it looks each up. A batch takes
 * 6 ms of processor time so, and took 2 by places. Rows that are locked are left out. Without `from` each batch would walk
 * over all that earlier ones have deleted, for as long as an old transaction keeps vacuum from removing it. Planned each
 * time: a table may have grown a lot since the purge before.
 */
export async function deleteBatch(
  db: Db,
  { table, key, column, also, unless }: Pick<Retention, 'table' | 'key' | 'column' | 'also' | 'unless'>,
  { before, from, limit, now }: RetentionBatch,
): Promise<z.infer<typeof deleted>> {
  const [rows, date] = [sql.identifier(table), sql.identifier(column)]
  const keys = key.map((name) => sql.identifier(name))
  const shared = sql.identifier(also?.column ?? column)
  const without = unless ? sql.part` and not (${unless(now)})` : sql.part``
  const withThem = also
    ? sql.part`, more as (delete from ${sql.identifier(also.table)} where ${shared} in (select shared from gone))`
    : sql.part``
  const [batch] = await db.listWithCustomPlan(
    deleted,
    sql`with due as (
          select ${sql.join(keys)} from ${rows} where ${date} >= ${from} and ${date} < ${before}${without}
          order by ${date} limit ${limit} for update skip locked
        ), gone as (
          delete from ${rows} t
          using unnest(${sql.join(keys.map((name) => sql.part`array(select ${name} from due)`))}) as due_key (${sql.join(keys)})
          where ${sql.join(
            keys.map((name) => sql.part`t.${name} = due_key.${name}`),
            ' and ',
          )}
          returning t.${date} as at, t.${shared} as shared
        )${withThem}
        select count(*)::int as rows, max(at) as last from gone`,
  )
  return batch ?? { rows: 0, last: null }
}

/** Whether this database role may lock and delete rows of the table. */
export const mayDelete = (db: Db, table: string): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select has_table_privilege(${table}, 'delete') and has_table_privilege(${table}, 'update') as may`,
  )

import { z } from 'zod'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'

const sealedRow = z.object({ key: z.array(z.string()), sealed: z.instanceof(Buffer) })
export type SealedRow = z.output<typeof sealedRow>

const keyOf = ({ key }: SealedColumn): Fragment => sql.join(key.map(sql.identifier))
const valuesOf = (values: readonly string[]): Fragment => sql.join(values.map((value) => sql.part`${value}`))

/** The next rows after a key, or the first ones, locked until the end of the transaction. */
export function lockSealed(
  db: Db,
  column: SealedColumn,
  after: readonly string[] | undefined,
  limit: number,
): Promise<SealedRow[]> {
  const [table, sealed] = [sql.identifier(column.table), sql.identifier(column.column)]
  const texts = sql.join(column.key.map((name) => sql.part`${sql.identifier(name)}::text`))
  const rest = after ? sql.part`and (${keyOf(column)}) > (${valuesOf(after)})` : sql.part``
  return db.many(
    sealedRow,
    sql`select array[${texts}] as key, ${sealed} as sealed from ${table}
        where ${sealed} is not null ${rest}
        order by ${keyOf(column)} limit ${limit} for no key update`,
  )
}

export const putSealed = (db: Db, column: SealedColumn, key: readonly string[], sealed: Buffer): Promise<number> =>
  db.exec(
    sql`update ${sql.identifier(column.table)} set ${sql.identifier(column.column)} = ${sealed}
        where (${keyOf(column)}) = (${valuesOf(key)})`,
  )

export const countSealed = (db: Db, { table, column }: SealedColumn): Promise<number> =>
  db.value(
    z.number(),
    sql`select count(*)::int as rows from ${sql.identifier(table)} where ${sql.identifier(column)} is not null`,
  )

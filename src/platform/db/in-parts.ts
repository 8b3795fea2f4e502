import { z } from 'zod'
import { type Batched, type BatchedWork, performStatement } from './batch.ts'
import type { Db } from './sql.ts'

/**
 * For Citus: a batched statement, and others that follow from its rows, in one transaction, where a single PostgreSQL
 * uses one statement. On Citus several inserts and updates in one cost several times what they cost one after another.
 */
export const inParts = <Item, Row>(
  first: Batched<Item, Row>,
  then: (db: Db, rows: readonly (readonly [Item, Row])[]) => Promise<unknown>,
): BatchedWork<Db, Item, Row[]> => ({
  key: first.key,
  duplicates: first.duplicates,
  work: async (db, items) => {
    const run = async (statement: ReturnType<typeof first.statement>) => ({
      rows: await db.many(z.unknown(), statement),
    })
    const outcomes = await performStatement(run, first)(items)
    const rows = await Promise.all(outcomes.map((outcome) => outcome()))
    await then(
      db,
      items.flatMap((item, place) => (rows[place] ?? []).map((row) => [item, row] as const)),
    )
    return rows
  },
})

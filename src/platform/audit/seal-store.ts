import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

// An advisory lock id that nothing else in this database uses.
const SEAL_LOCK = 7_001_004

/** True if this transaction holds the lock of the chain: only one at a time may extend it. */
export const lockChain = (db: Db): Promise<boolean> =>
  db.value(z.boolean(), sql`select pg_try_advisory_xact_lock(${SEAL_LOCK}) as locked`)

const unsealed = z.object({ routing_key: z.number(), audit_id: z.string() })

export const hasUnsealed = (db: Db): Promise<boolean> =>
  db.value(z.boolean(), sql`select exists (select 1 from audit_unsealed) as waits`)

export const takeUnsealed = (db: Db, limit: number): Promise<z.output<typeof unsealed>[]> =>
  db.many(
    unsealed,
    sql`delete from audit_unsealed where (routing_key, audit_id) in (
          select routing_key, audit_id from audit_unsealed limit ${limit})
        returning routing_key, audit_id`,
  )

const seal = z.object({
  seal_no: z.string().transform(BigInt),
  before_at: z.date().nullable(),
  /** MAC of the previous seal; empty in the very first. */
  before_chain: z.instanceof(Buffer),
  first_at: z.date(),
  last_at: z.date(),
  routing_keys: z.array(z.number()),
  audit_ids: z.array(z.string()),
  row_digests: z.instanceof(Buffer),
  key_id: z.string(),
  chain: z.instanceof(Buffer),
})
export type Seal = z.output<typeof seal>

const SEAL = sql.part`seal_no, before_at, before_chain, first_at, last_at, routing_keys, audit_ids, row_digests, key_id, chain`

export const lastSeal = (db: Db): Promise<Seal | undefined> =>
  db.maybe(seal, sql`select ${SEAL} from audit_seal order by seal_no desc limit 1`)

export const insertSeal = (db: Db, row: Seal): Promise<number> =>
  db.exec(
    sql`insert into audit_seal (${SEAL})
        values (${row.seal_no}, ${row.before_at}, ${row.before_chain}, ${row.first_at}, ${row.last_at},
                ${row.routing_keys}, ${row.audit_ids}, ${row.row_digests}, ${row.key_id}, ${row.chain})`,
  )

export const sealsAfter = (db: Db, sealNo: bigint, limit: number): Promise<Seal[]> =>
  db.listWithCustomPlan(
    seal,
    sql`select ${SEAL} from audit_seal where seal_no > ${sealNo} order by seal_no limit ${limit}`,
  )

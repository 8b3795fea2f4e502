import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

// Any number that nothing else in this database uses as an advisory lock.
const SEALING = 7_001_004

/** Whether this transaction may seal; only one at a time extends the chain. */
export const lockChain = (db: Db): Promise<boolean> =>
  db.value(z.boolean(), sql`select pg_try_advisory_xact_lock(${SEALING}) as locked`)

const waiting = z.object({ routing_key: z.number(), audit_id: z.string() })

/** Whether any row waits for a seal; mostly none does. */
export const hasUnsealed = (db: Db): Promise<boolean> =>
  db.value(z.boolean(), sql`select exists (select 1 from audit_unsealed) as waits`)

/** Takes rows from those that wait for a seal. */
export const takeUnsealed = (db: Db, limit: number): Promise<z.output<typeof waiting>[]> =>
  db.many(
    waiting,
    sql`delete from audit_unsealed where (routing_key, audit_id) in (
          select routing_key, audit_id from audit_unsealed limit ${limit})
        returning routing_key, audit_id`,
  )

const seal = z.object({
  seal_no: z.string().transform(BigInt),
  before_at: z.date().nullable(),
  /** MAC of the seal before; empty in the first one of all. */
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

export const insertSeal = (db: Db, made: Seal): Promise<number> =>
  db.exec(
    sql`insert into audit_seal (${SEAL})
        values (${made.seal_no}, ${made.before_at}, ${made.before_chain}, ${made.first_at}, ${made.last_at},
                ${made.routing_keys}, ${made.audit_ids}, ${made.row_digests}, ${made.key_id}, ${made.chain})`,
  )

/** In their order, those after this one. */
export const sealsAfter = (db: Db, sealNo: bigint, limit: number): Promise<Seal[]> =>
  db.listWithCustomPlan(
    seal,
    sql`select ${SEAL} from audit_seal where seal_no > ${sealNo} order by seal_no limit ${limit}`,
  )

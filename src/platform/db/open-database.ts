import type { Pool } from 'pg'
import type { Log } from '../lib/log.ts'
import type { Tracing } from '../lib/tracing.ts'
import { BATCH_LIMITS, type BatchLimits } from './batch.ts'
import type { ShardNodes } from './citus.ts'
import { openPool, type PoolSettings } from './pool.ts'
import { schemasOf } from './shards.ts'
import { byGroup, type ConnectionGroup, connectionShares } from './shares.ts'
import { type Db, dbOf, type ShardSet } from './sql.ts'

export interface OpenDatabase {
  readonly db: Db
  /** Of statements that are not about people of a shard. */
  readonly pool: Pool
  /** Connections of this process. */
  readonly connections: () => { readonly total: number; readonly idle: number }
  readonly waiting: () => Readonly<Record<ConnectionGroup, number>>
  close(): Promise<void>
}

interface Options {
  readonly shards?: number
  readonly limits?: BatchLimits
  readonly tracing?: Tracing | undefined
  /** On Citus: how to connect to the node that has a shard. */
  readonly nodes?: ShardNodes | undefined
}

/** The same database, whose batches go out over another pool. Handles are compared (byShard), so each is made once. */
function withBatchesOver(db: Db, near: Db): Db {
  const groups = new Map<ConnectionGroup, Db>()
  return {
    ...db,
    batch: near.batch,
    batchWork: near.batchWork,
    withShareOf: (name) => {
      const known = groups.get(name) ?? withBatchesOver(db.withShareOf(name), near.withShareOf(name))
      groups.set(name, known)
      return known
    },
  }
}

/**
 * The database over a pool, and each of its shards over one more with as many connections. Batches of a shard whose
 * node is known go there, over a third: they are about its rows alone. The shard's transactions may also write to `public`.
 */
export function openDatabase(
  settings: PoolSettings,
  log: Log,
  { shards = 1, limits = BATCH_LIMITS, tracing, nodes = {} }: Options = {},
): OpenDatabase {
  const schemas = schemasOf(shards)
  const set: ShardSet | undefined = schemas.length > 0 ? { schemas, handles: [] } : undefined
  const open = (schema?: string, connectionString = settings.connectionString) => {
    const pool = openPool({ ...settings, connectionString, ...(schema === undefined ? {} : { schema }) }, log)
    const shares = connectionShares(settings.size, limits)
    return { pool, shares, db: dbOf(pool, limits, shares, tracing, set, schema) }
  }
  const whole = open()
  const parts = schemas.map((schema) => {
    const node = nodes[schema]
    return { part: open(schema), near: node === undefined ? undefined : open(schema, node) }
  })
  set?.handles.push(...parts.map(({ part, near }) => (near ? withBatchesOver(part.db, near.db) : part.db)))
  const all = [whole, ...parts.flatMap(({ part, near }) => (near ? [part, near] : [part]))]
  return {
    db: whole.db,
    pool: whole.pool,
    connections: () => ({
      total: all.reduce((sum, { pool }) => sum + pool.totalCount, 0),
      idle: all.reduce((sum, { pool }) => sum + pool.idleCount, 0),
    }),
    waiting: () => {
      const parts = all.map(({ shares }) => shares.waiting())
      return byGroup((group) => parts.reduce((sum, part) => sum + part[group], 0))
    },
    close: async () => {
      await Promise.all(all.map(({ pool }) => pool.end()))
    },
  }
}

import type { Pool } from 'pg'
import type { Log } from '../lib/log.ts'
import type { Tracing } from '../lib/tracing.ts'
import { BATCH_LIMITS, type BatchLimits } from './batch.ts'
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
}

/** The database over a pool, and each of its shards over one more with as many connections. */
export function openDatabase(
  settings: PoolSettings,
  log: Log,
  { shards = 1, limits = BATCH_LIMITS, tracing }: Options = {},
): OpenDatabase {
  const schemas = schemasOf(shards)
  const set: ShardSet | undefined = schemas.length > 0 ? { schemas, handles: [] } : undefined
  const open = (schema?: string) => {
    const pool = openPool(schema === undefined ? settings : { ...settings, schema }, log)
    const shares = connectionShares(settings.size, limits)
    return { pool, shares, db: dbOf(pool, limits, shares, tracing, set, schema) }
  }
  const whole = open()
  const parts = schemas.map(open)
  set?.handles.push(...parts.map(({ db }) => db))
  const all = [whole, ...parts]
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

import type { Pool } from 'pg'
import type { Log } from '../lib/log.ts'
import type { Tracing } from '../lib/tracing.ts'
import { BATCH_LIMITS, type BatchLimits } from './batch.ts'
import type { ShardNodes } from './citus.ts'
import type { Connections } from './pause.ts'
import { openPool, type PoolSettings } from './pool.ts'
import { schemasOf } from './shards.ts'
import { byGroup, type ConnectionGroup, connectionShares } from './shares.ts'
import { type Db, dbOf, type ShardSet } from './sql.ts'

export type OpenDatabase = ReturnType<typeof openDatabase>

interface Options {
  readonly shards?: number
  readonly limits?: BatchLimits
  readonly tracing?: Tracing | undefined
  readonly nodes?: ShardNodes | undefined
}

const DIRECT_AGAIN_AFTER_MS = 5_000

/** Connections to the node that has a shard; through the coordinator while the node cannot be reached. */
function directOr(coordinator: Pool, direct: Pool, log: Log): Connections {
  let isAway = false
  let triedAt = 0
  const retryDirect = async () => {
    triedAt = performance.now()
    const client = await direct.connect()
    client.release()
    isAway = false
    log.info('a node of Citus is asked directly again')
  }
  return {
    options: direct.options,
    get ending() {
      return coordinator.ending
    },
    connect: async () => {
      if (isAway) {
        if (performance.now() - triedAt >= DIRECT_AGAIN_AFTER_MS) retryDirect().catch(() => {})
        return coordinator.connect()
      }
      try {
        return await direct.connect()
      } catch (error) {
        if (!isAway && !direct.ending) {
          const { message: reason } = error as Error
          log.warn({ reason }, 'a node of Citus cannot be reached: its shard is asked through the coordinator')
        }
        isAway = true
        triedAt = performance.now()
        return coordinator.connect()
      }
    },
  }
}

/** For `/readyz`: a shard is usable if it answers both directly and through the coordinator. */
const askedBothWays = (db: Db, direct: Db): Db => ({
  ...db,
  many: async (row, statement) => {
    await direct.many(row, statement)
    return db.many(row, statement)
  },
})

/** The same database, with batches sent to the node directly. Handles are compared (byShard), so each is created once. */
function withBatchesOver(db: Db, direct: Db): Db {
  const groups = new Map<ConnectionGroup, Db>()
  return {
    ...db,
    batch: direct.batch,
    batchWork: direct.batchWork,
    reserved: () => askedBothWays(db.reserved(), direct.reserved()),
    withShareOf: (name) => {
      const known = groups.get(name) ?? withBatchesOver(db.withShareOf(name), direct.withShareOf(name))
      groups.set(name, known)
      return known
    },
  }
}

/**
 * The database over one pool, and each of its shards over another of the same size. Batches for a shard whose node is
 * known go there over a third; transactions do not, since they may also write to `public`. Both routes count against
 * one limit, so that either can take over from the other.
 */
export function openDatabase(
  settings: PoolSettings,
  log: Log,
  { shards = 1, limits = BATCH_LIMITS, tracing, nodes = {} }: Options = {},
) {
  const schemas = schemasOf(shards)
  const set: ShardSet | undefined = schemas.length > 0 ? { schemas, handles: [] } : undefined
  const poolOf = (schema?: string, connectionString = settings.connectionString) =>
    openPool({ ...settings, connectionString, ...(schema === undefined ? {} : { schema }) }, log)
  const open = (schema?: string) => {
    const shares = connectionShares(settings.size, limits)
    const over = (connections: Connections) => dbOf(connections, limits, shares, tracing, set, schema)
    const pool = poolOf(schema)
    const node = schema === undefined ? undefined : nodes[schema]
    if (node === undefined) return { shares, pool, pools: [pool], db: over(pool) }
    const direct = poolOf(schema, node)
    const db = withBatchesOver(over(pool), over(directOr(pool, direct, log)))
    return { shares, pool, pools: [pool, direct], db }
  }
  const whole = open()
  const all = [whole, ...schemas.map(open)]
  set?.handles.push(...all.slice(1).map(({ db }) => db))
  const pools = all.flatMap((part) => part.pools)
  return {
    db: whole.db,
    /** The pool of statements that are not about people of a shard. */
    pool: whole.pool,
    connections: () => ({
      total: pools.reduce((sum, { totalCount }) => sum + totalCount, 0),
      idle: pools.reduce((sum, { idleCount }) => sum + idleCount, 0),
    }),
    waiting: () => {
      const parts = all.map(({ shares }) => shares.waiting())
      return byGroup((group) => parts.reduce((sum, part) => sum + part[group], 0))
    },
    close: async () => {
      await Promise.all(pools.map((pool) => pool.end()))
    },
  }
}

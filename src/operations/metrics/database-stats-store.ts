import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

const databaseStats = z.object({
  bytes: z.coerce.number(),
  connections: z.coerce.number(),
  max_connections: z.coerce.number(),
  commits: z.coerce.number(),
  rollbacks: z.coerce.number(),
  deadlocks: z.coerce.number(),
  temporary_bytes: z.coerce.number(),
  blocks_hit: z.coerce.number(),
  blocks_read: z.coerce.number(),
  oldest_transaction_s: z.coerce.number(),
  transaction_ids: z.coerce.number(),
  standby: z.boolean(),
})
export type DatabaseStats = z.output<typeof databaseStats>

/** What PostgreSQL says of this database; what it does not let the service's role see is missing from the counts. */
export const readDatabaseStats = (db: Db): Promise<DatabaseStats> =>
  db.one(
    databaseStats,
    sql`select pg_database_size(current_database()) as bytes, activity.connections,
          current_setting('max_connections') as max_connections, counted.xact_commit as commits,
          counted.xact_rollback as rollbacks, counted.deadlocks, counted.temp_bytes as temporary_bytes,
          counted.blks_hit as blocks_hit, counted.blks_read as blocks_read,
          coalesce(activity.oldest_s, 0) as oldest_transaction_s, age(this.datfrozenxid) as transaction_ids,
          pg_is_in_recovery() as standby
        from pg_database this
        join pg_stat_database counted on counted.datid = this.oid
        cross join lateral (
          select count(pid) as connections, extract(epoch from max(clock_timestamp() - xact_start)) as oldest_s
          from pg_stat_activity where datid = this.oid
        ) activity
        where this.datname = current_database()`,
  )

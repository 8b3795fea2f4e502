import { z } from 'zod'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'

/** PostgreSQL's statistics, a gauge or counter each; names begin with `gatehouse_postgresql_`. */
export const DATABASE_STATS: readonly (readonly [name: string, help: string, value: Fragment])[] = [
  ['size_bytes', 'Size of the database', sql.part`pg_database_size(current_database())`],
  ['connections', 'Connections to the database, of all clients', sql.part`activity.connections`],
  ['max_connections', 'Connections that the server takes', sql.part`current_setting('max_connections')`],
  ['commits_total', 'Transactions committed', sql.part`counted.xact_commit`],
  ['rollbacks_total', 'Transactions rolled back', sql.part`counted.xact_rollback`],
  ['deadlocks_total', 'Deadlocks', sql.part`counted.deadlocks`],
  ['temporary_bytes_total', 'Written to temporary files', sql.part`counted.temp_bytes`],
  ['blocks_hit_total', 'Blocks found in PostgreSQL’s memory', sql.part`counted.blks_hit`],
  ['blocks_read_total', 'Blocks read from the system', sql.part`counted.blks_read`],
  ['oldest_transaction_seconds', 'Age of the oldest open transaction', sql.part`coalesce(activity.oldest_s, 0)`],
  [
    'transaction_ids_used',
    'Transaction ids since the last freeze; autovacuum must act long before 2 billion',
    sql.part`age(this.datfrozenxid)`,
  ],
  ['standby', '1 while the database is a standby', sql.part`pg_is_in_recovery()::int`],
]

/** In the order of DATABASE_STATS. Counts lack what PostgreSQL hides from the service's role. */
export const readDatabaseStats = (db: Db): Promise<number[]> =>
  db.value(
    z.array(z.number()),
    sql`select array[${sql.join(DATABASE_STATS.map(([, , value]) => sql.part`${value}::float8`))}] as stats
        from pg_database this
        join pg_stat_database counted on counted.datid = this.oid
        cross join lateral (
          select count(pid) as connections, extract(epoch from max(clock_timestamp() - xact_start)) as oldest_s
          from pg_stat_activity where datid = this.oid
        ) activity
        where this.datname = current_database()`,
  )

import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import { lastPurge, statesOfShards } from '../../platform/db/installation.ts'
import { queueState } from '../../platform/db/jobs-store.ts'
import type { Deps } from '../../platform/deps.ts'
import { epochSeconds } from '../../platform/lib/clock.ts'
import { type DatabaseStats, readDatabaseStats } from './database-stats-store.ts'

/** The metrics of one process, as prom-client hands them on; plain data that a message can hold. */
export type ProcessMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** The metrics of all processes that answer requests on this port, and of the one that started them. */
export type GatherMetrics = () => Promise<readonly ProcessMetrics[]>

/** A scrape does not wait longer for a database that does not answer; it gets the other metrics. */
const DATABASE_MS = 2_000

/** For the console alone: Prometheus has the counters. */
export const LAST_HOUR = 'gatehouse_http_requests_last_hour'

/** The text of `/metrics`: what the processes count, summed, and the statistics of the database and of the queue. */
export async function metricsText(deps: Deps, gather: GatherMetrics): Promise<string> {
  const [processes, database] = await Promise.all([gather(), databaseMetrics(deps)])
  const exposed = processes.map((process) => process.filter(({ name }) => name !== LAST_HOUR))
  return `${await sumOf(exposed).metrics()}\n${await database.metrics()}`
}

export const sumOf = (processes: readonly ProcessMetrics[]): Registry => AggregatorRegistry.aggregate([...processes])

/** The metrics that only grow: their sum must not decrease when a process has ended. */
export const lastingOf = (metrics: ProcessMetrics): ProcessMetrics =>
  metrics.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')

/** One gauge or counter each. */
const DATABASE: readonly (readonly [name: string, help: string, read: (stats: DatabaseStats) => number])[] = [
  ['gatehouse_postgresql_size_bytes', 'Size of the database', ({ bytes }) => bytes],
  ['gatehouse_postgresql_connections', 'Connections to the database, of all clients', ({ connections }) => connections],
  [
    'gatehouse_postgresql_max_connections',
    'Connections that the server takes',
    ({ max_connections }) => max_connections,
  ],
  ['gatehouse_postgresql_commits_total', 'Transactions committed', ({ commits }) => commits],
  ['gatehouse_postgresql_rollbacks_total', 'Transactions rolled back', ({ rollbacks }) => rollbacks],
  ['gatehouse_postgresql_deadlocks_total', 'Deadlocks', ({ deadlocks }) => deadlocks],
  [
    'gatehouse_postgresql_temporary_bytes_total',
    'Written to temporary files',
    ({ temporary_bytes }) => temporary_bytes,
  ],
  ['gatehouse_postgresql_blocks_hit_total', 'Blocks found in PostgreSQL’s memory', ({ blocks_hit }) => blocks_hit],
  ['gatehouse_postgresql_blocks_read_total', 'Blocks read from the system', ({ blocks_read }) => blocks_read],
  [
    'gatehouse_postgresql_oldest_transaction_seconds',
    'Age of the oldest open transaction',
    ({ oldest_transaction_s }) => oldest_transaction_s,
  ],
  [
    'gatehouse_postgresql_transaction_ids_used',
    'Transaction ids since the last freeze; autovacuum must act long before 2 billion',
    ({ transaction_ids }) => transaction_ids,
  ],
  ['gatehouse_postgresql_standby', '1 while the database is a standby', ({ standby }) => Number(standby)],
]

async function databaseMetrics({ db }: Deps): Promise<Registry> {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const asked = Promise.all([readDatabaseStats(db), queueState(db), lastPurge(db), statesOfShards(db.reserved())])
  const answer = await Promise.race([asked, sleep(DATABASE_MS, undefined, { ref: false })]).catch(() => undefined)
  asked.catch(() => {}) // nobody waits for one that fails later
  gauge('gatehouse_database_up', '1 while the database answers').set(answer ? 1 : 0)
  if (!answer) return registry
  const [stats, queue, purgedAt, shards] = answer
  for (const [name, help, read] of DATABASE) {
    if (name.endsWith('_total')) new Counter({ name, help, registers }).inc(read(stats))
    else gauge(name, help).set(read(stats))
  }
  const up = gauge('gatehouse_shard_up', '1 while the shard can be used, where people are spread over shards', [
    'shard',
  ])
  for (const { schema, pending } of shards) up.set({ shard: schema }, pending === undefined ? 0 : 1)
  const jobs = gauge(
    'gatehouse_jobs',
    'Durable jobs that are not done, by task and state: waiting, running, failed (for good)',
    ['task', 'state'],
  )
  const oldest = gauge('gatehouse_jobs_oldest_waiting_seconds', 'Time since the oldest runnable job became due', [
    'task',
  ])
  for (const { task, oldest_s, ...states } of queue) {
    for (const [state, count] of Object.entries(states)) jobs.set({ task, state }, count)
    oldest.set({ task }, oldest_s)
  }
  const purged = gauge('gatehouse_purge_finished_timestamp_seconds', 'When a purge last completed')
  if (purgedAt) purged.set(epochSeconds(purgedAt))
  return registry
}

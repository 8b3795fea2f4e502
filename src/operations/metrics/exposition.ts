import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry, Counter, Gauge, Registry } from 'prom-client'
import { lastPurge, statesOfShards } from '../../platform/db/installation.ts'
import { queueState } from '../../platform/db/jobs-store.ts'
import type { Deps } from '../../platform/deps.ts'
import { epochSeconds } from '../../platform/lib/clock.ts'
import { DATABASE_STATS, readDatabaseStats } from './database-stats-store.ts'

/** The metrics of one process as plain data, which can be sent between processes. */
export type ProcessMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Collects the metrics of all processes that serve this port, and of the one that started them. */
export type GatherMetrics = () => Promise<readonly ProcessMetrics[]>

/** How long a scrape waits for the database; after that it gets the other metrics. */
const DATABASE_MS = 2_000

/** For the console only: Prometheus has the counters. */
export const LAST_HOUR = 'gatehouse_http_requests_last_hour'

/** The text of `/metrics`: the sum over all processes, and the statistics of the database and the queue. */
export async function metricsText(deps: Deps, gather: GatherMetrics): Promise<string> {
  const [processes, database] = await Promise.all([gather(), databaseMetrics(deps)])
  const exposed = processes.map((process) => process.filter(({ name }) => name !== LAST_HOUR))
  return `${await sumOf(exposed).metrics()}\n${await database.metrics()}`
}

export const sumOf = (processes: readonly ProcessMetrics[]): Registry => AggregatorRegistry.aggregate([...processes])

/** The metrics that only grow, whose sum must not decrease when a process ends. */
export const lastingOf = (metrics: ProcessMetrics): ProcessMetrics =>
  metrics.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')

async function databaseMetrics({ db }: Deps): Promise<Registry> {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames, registers })
  const queries = Promise.all([readDatabaseStats(db), queueState(db), lastPurge(db), statesOfShards(db.reserved())])
  const answer = await Promise.race([queries, sleep(DATABASE_MS, undefined, { ref: false })]).catch(() => undefined)
  queries.catch(() => {}) // it may fail after the time-out
  gauge('gatehouse_database_up', '1 while the database answers').set(answer ? 1 : 0)
  if (!answer) return registry
  const [stats, queue, purgedAt, shards] = answer
  for (const [place, [ending, help]] of DATABASE_STATS.entries()) {
    const name = `gatehouse_postgresql_${ending}`
    if (name.endsWith('_total')) new Counter({ name, help, registers }).inc(stats[place] ?? 0)
    else gauge(name, help).set(stats[place] ?? 0)
  }
  const up = gauge('gatehouse_shard_up', '1 while the shard can be used, where people are spread over shards', 'shard')
  for (const { schema, pending } of shards) up.set({ shard: schema }, pending === undefined ? 0 : 1)
  const jobs = gauge(
    'gatehouse_jobs',
    'Durable jobs that are not done, by task and state: waiting, running, failed (for good)',
    'task',
    'state',
  )
  const oldest = gauge('gatehouse_jobs_oldest_waiting_seconds', 'Time since the oldest runnable job became due', 'task')
  for (const { task, oldest_s, ...states } of queue) {
    for (const [state, count] of Object.entries(states)) jobs.set({ task, state }, count)
    oldest.set({ task }, oldest_s)
  }
  const purged = gauge('gatehouse_purge_finished_timestamp_seconds', 'When a purge last completed')
  if (purgedAt) purged.set(epochSeconds(purgedAt))
  return registry
}

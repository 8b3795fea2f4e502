import { collectDefaultMetrics } from 'prom-client'
import type { Metrics } from '../../platform/lib/metrics.ts'

/** Where a process's gauges are read from at each scrape. */
export interface ProcessGauges {
  readonly pool: () => { readonly total: number; readonly idle: number }
  /** Statements that wait for a connection, by room. */
  readonly waiting: () => Readonly<Record<string, number>>
  readonly breakers: () => { readonly open: number; readonly slow: number }
  /** Certificates of partners that end within 14 days. */
  readonly certificates: () => number
}

/** Adds the metrics that are read at each scrape: the process itself, its pool and circuit breakers. */
export function measureProcess({ registry, watch }: Metrics, gauges: ProcessGauges): void {
  collectDefaultMetrics({ register: registry })
  watch('gatehouse_processes', 'Number of processes summed here', () => 1)
  const connections = () => {
    const { total, idle } = gauges.pool()
    return { used: total - idle, idle }
  }
  watch('gatehouse_database_connections', 'Connections of the pool by state: used, idle', connections, {
    label: 'state',
  })
  watch('gatehouse_database_waiting', 'Statements that wait for a connection, by room', gauges.waiting, {
    label: 'room',
  })
  watch(
    'gatehouse_partner_breakers',
    'Partners whose circuit breaker is open (calls failed) or slow (no background calls); the maximum over all processes',
    () => ({ ...gauges.breakers() }),
    { label: 'state', aggregator: 'max' },
  )
  watch(
    'gatehouse_partner_certificates_ending',
    'Hosts of partners whose TLS certificate ends within 14 days; the maximum over all processes',
    gauges.certificates,
    { aggregator: 'max' },
  )
}

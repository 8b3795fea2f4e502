import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client'

/** Gauges of a process, read at each scrape. */
export interface ProcessGauges {
  /** Connections of its pool. */
  readonly pool: () => { readonly total: number; readonly idle: number }
  /** Work that waits for a connection, by room. */
  readonly waiting: () => Readonly<Record<string, number>>
  readonly breakers: () => { readonly open: number; readonly slow: number }
  /** Certificates of partners that end within 14 days. */
  readonly certificates: () => number
}

/** Adds to a process's metrics what is read at each scrape: the process itself, its pool, circuit breakers. */
export function measureProcess(registry: Registry, { pool, waiting, breakers, certificates }: ProcessGauges): void {
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  new Gauge({
    name: 'gatehouse_processes',
    help: 'Number of processes summed here',
    registers,
  }).set(1)
  new Gauge({
    name: 'gatehouse_database_connections',
    help: 'Connections of the pool by state: used, idle',
    labelNames: ['state'],
    registers,
    collect() {
      const { total, idle } = pool()
      this.set({ state: 'used' }, total - idle)
      this.set({ state: 'idle' }, idle)
    },
  })
  new Gauge({
    name: 'gatehouse_database_waiting',
    help: 'Statements that wait for a connection, by room',
    labelNames: ['room'],
    registers,
    collect() {
      for (const [room, count] of Object.entries(waiting())) this.set({ room }, count)
    },
  })
  new Gauge({
    name: 'gatehouse_partner_breakers',
    help: 'Partners whose circuit breaker is open (calls failed) or slow (no background calls); the maximum over all processes',
    labelNames: ['state'],
    aggregator: 'max',
    registers,
    collect() {
      for (const [state, count] of Object.entries(breakers())) this.set({ state }, count)
    },
  })
  new Gauge({
    name: 'gatehouse_partner_certificates_ending',
    help: 'Hosts of partners whose TLS certificate ends within 14 days; the maximum over all processes',
    aggregator: 'max',
    registers,
    collect() {
      this.set(certificates())
    },
  })
}

import type { Command } from 'commander'
import type { OutputOf } from '../lib/json/input.ts'
import { listBreakers, listCertificates, resetBreaker } from '../partner-reach/index.ts'
import type { CliContext } from './context.ts'
import { defineListCommand } from './list.ts'
import { runsOnPartner, withKeyArgument } from './partner-key.ts'
import { aligned, readable } from './text.ts'

/** `gatehouse partner breakers`, `reset-breaker` and `certificates`: how partners can be reached. */
export function reachCommands(partner: Command, context: CliContext): void {
  const breakers = partner
    .command('breakers')
    .description('partners that some process does not call now, because its last calls failed')
  defineListCommand(breakers, context, {
    plural: 'breakers',
    input: listBreakers.input,
    inputFrom: () => ({}),
    page: listBreakers,
    table: breakerTable,
  })
  const reset = withKeyArgument(partner, 'reset-breaker', 'let every process call it again at once')
  runsOnPartner(reset, context, resetBreaker, ({ partner_id, processes }) =>
    processes === 0 ? `no circuit breaker of partner ${partner_id} is open` : `reset in ${processes} processes`,
  )
  const certificates = partner
    .command('certificates')
    .description('when the TLS certificates of partners end, the next one first')
    .option('--within-days <number>', 'only those that have ended, or end within so many days')
  defineListCommand(certificates, context, {
    plural: 'certificates',
    input: listCertificates.input,
    inputFrom: ({ withinDays }) => ({ within_days: withinDays }),
    page: listCertificates,
    table: certificateTable,
  })
}

function breakerTable(breakers: Readonly<OutputOf<typeof listBreakers>['breakers']>): string {
  if (breakers.length === 0) return 'no circuit breaker is open'
  const rows = breakers.map(({ partner_id, processes, opened_at, retry_at }) => [
    String(partner_id),
    String(processes),
    readable(opened_at),
    readable(retry_at),
  ])
  return aligned([['PARTNER', 'PROCESSES', 'SINCE', 'TRIED_AT'], ...rows])
}

function certificateTable(certificates: Readonly<OutputOf<typeof listCertificates>['certificates']>): string {
  if (certificates.length === 0) return 'no certificates'
  const rows = certificates.map(({ partner_id, origin, ends_at, days_left, seen_at }) => [
    String(partner_id),
    origin,
    readable(ends_at),
    String(days_left),
    readable(seen_at),
  ])
  return aligned([['PARTNER', 'HOST', 'ENDS', 'DAYS_LEFT', 'SEEN'], ...rows])
}

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { ActivityMeter } from './activity.ts'
import { UsageMeter } from './usage.ts'
import { RequestMeter } from './web/request-meter.ts'

export type Metrics = ReturnType<typeof openMetrics>

/** Issued access tokens, as plain numbers, since this runs for every exchange and refresh. */
function countedByGrant(registers: Registry[]) {
  const counted = { authorization_code: 0, refresh_token: 0 }
  new Counter({
    name: 'gatehouse_tokens_issued_total',
    help: 'Access tokens issued, by grant type',
    labelNames: ['grant'],
    registers,
    collect() {
      this.reset()
      for (const [grant, times] of Object.entries(counted)) if (times > 0) this.inc({ grant }, times)
    },
  })
  return counted
}

/** The metrics of one process. Label values come from lists in the code, never from a caller. */
export function openMetrics() {
  const registry = new Registry()
  const registers = [registry]
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name, help, labelNames, registers })
  return {
    registry,
    requests: new RequestMeter(registry),
    /** For the console's history; not for `/metrics`, whose labels name no app and no partner. */
    activity: new ActivityMeter(),
    /** For developers, by app and day; not for `/metrics` either. */
    usage: new UsageMeter(),
    batchItems: new Histogram({
      name: 'gatehouse_batch_items',
      help: 'How many requests shared one statement (kind read or write)',
      labelNames: ['kind'],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200],
      registers,
    }),
    partnerCalls: new Histogram({
      name: 'gatehouse_partner_call_duration_seconds',
      help: 'Calls to partners by interface and outcome: ok, or the kind of failure',
      labelNames: ['interface', 'outcome'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers,
    }),
    signInFailures: counter(
      'gatehouse_sign_in_failures_total',
      'Failed sign-ins of people (passport), partners, their members, and failed authentications of apps (client)',
      ['kind'],
    ),
    tokensIssued: countedByGrant(registers),
    jobsFinished: counter(
      'gatehouse_jobs_finished_total',
      'Durable jobs that this service has run, by task and outcome: done, again (it will be retried), failed (for good), superseded',
      ['task', 'outcome'],
    ),
    purgedRows: counter('gatehouse_purged_rows_total', 'Rows that the purge has deleted, by table', ['table']),
    /** Registers a gauge that is read at each scrape, one label value per entry; replaces an earlier one of that name. */
    watch: (
      name: string,
      help: string,
      read: () => number | Readonly<Record<string, number>>,
      { label, aggregator = 'sum' }: { readonly label?: string; readonly aggregator?: 'sum' | 'max' } = {},
    ): void => {
      registry.removeSingleMetric(name)
      new Gauge({
        name,
        help,
        registers,
        labelNames: label === undefined ? [] : [label],
        aggregator,
        collect() {
          const values = read()
          if (typeof values === 'number') this.set(values)
          else for (const [of, value] of Object.entries(values)) this.set({ [String(label)]: of }, value)
        },
      })
    },
    linesLeftOut: counter(
      'gatehouse_log_lines_left_out_total',
      'Lines of the request log that were only counted, because there were too many in a second',
    ),
    accessesLeftOut: counter(
      'gatehouse_accesses_left_out_total',
      'Reads of profiles and phone numbers that are missing from the access ledger, because there were too many',
    ),
    refusalsLeftOut: counter(
      'gatehouse_refusals_left_out_total',
      'Refused requests that were not kept for gatehouse explain, because there were too many',
    ),
  }
}

import { Gauge } from 'prom-client'
import { type Clock, epochSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import type { Metrics } from '../../platform/lib/metrics.ts'
import { type GatherMetrics, LAST_HOUR, sumOf } from './exposition.ts'

const MINUTE_S = 60
const MINUTES = 60
/** How often a process reads its counters, and so how far off a request's minute may be. */
const EVERY_MS = 5_000

type Counts = readonly [ok: number, refused: number, failed: number]
const NONE: Counts = [0, 0, 0]
const OUTCOMES = ['ok', 'refused', 'failed'] as const

/**
 * Counts a process's requests in each of the last sixty minutes by sampling its counters, which costs requests nothing.
 * The console gathers this gauge from all processes. Returns a function that stops it.
 */
export function keepLastHour({ registry, requests }: Metrics, clock: Clock): () => void {
  const minutes = new Map<number, Counts>()
  let seen = requests.totals()
  const sample = (): void => {
    const minute = Math.floor(epochSeconds(clock.now()) / MINUTE_S)
    const totals = requests.totals()
    const before = minutes.get(minute) ?? NONE
    minutes.set(minute, [
      before[0] + totals[0] - seen[0],
      before[1] + totals[1] - seen[1],
      before[2] + totals[2] - seen[2],
    ])
    seen = totals
    for (const old of minutes.keys()) if (old <= minute - MINUTES || old > minute) minutes.delete(old)
  }
  registry.removeSingleMetric(LAST_HOUR)
  new Gauge({
    name: LAST_HOUR,
    help: 'Requests in each minute of the last hour, by outcome; for the console alone',
    labelNames: ['minute', 'outcome'],
    registers: [registry],
    collect() {
      sample()
      this.reset()
      for (const [minute, counts] of minutes) {
        for (const [place, outcome] of OUTCOMES.entries()) this.set({ minute, outcome }, counts[place] ?? 0)
      }
    },
  })
  const timer = setInterval(sample, EVERY_MS).unref()
  return () => clearInterval(timer)
}

/** The last sixty minutes, oldest first, summed over all running processes. */
export async function readLastHour(gather: GatherMetrics, clock: Clock) {
  const summed = await sumOf(await gather()).getMetricsAsJSON()
  const counted = new Map(
    (summed.find(({ name }) => name === LAST_HOUR)?.values ?? []).map(
      ({ labels, value }) => [`${labels.minute} ${labels.outcome}`, value] as const,
    ),
  )
  const present = Math.floor(epochSeconds(clock.now()) / MINUTE_S)
  return Array.from({ length: MINUTES }, (_, place) => {
    const minute = present - MINUTES + 1 + place
    const of = (outcome: (typeof OUTCOMES)[number]) => counted.get(`${minute} ${outcome}`) ?? 0
    return { at: fromEpochSeconds(minute * MINUTE_S), ok: of('ok'), refused: of('refused'), failed: of('failed') }
  })
}

import { Counter, Histogram, type Registry } from 'prom-client'

/** How a request ended: answered, refused (the caller's mistake), or failed (status 500 or higher). */
export const OUTCOMES = ['ok', 'refused', 'failed'] as const
export const OK = 0
export const REFUSED = 1
export const FAILED = 2
export type RequestOutcome = typeof OK | typeof REFUSED | typeof FAILED

/** Upper bounds of the histogram's buckets, in milliseconds. */
const BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const
/** Codes counted per route; there are fewer, so this is only a safeguard. */
const MAX_CODES = 60

/** Counts the requests of one route. Runs for every request, so counting is a few additions. */
export class RouteMeter {
  readonly method: string
  readonly route: string
  readonly notice: string | undefined
  readonly outcomes = new Float64Array(OUTCOMES.length)
  readonly codes = new Map<number, number>()
  /** One more than there are bounds, for what took longer. */
  readonly buckets = new Float64Array(BUCKETS_MS.length + 1)
  totalMs = 0

  constructor(method: string, route: string, notice?: string) {
    this.method = method
    this.route = route
    this.notice = notice
  }

  /** `ms` is undefined for a response that stays open on purpose. */
  count(outcome: RequestOutcome, ms: number | undefined): void {
    this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1
    if (ms === undefined) return
    let place = 0
    while (place < BUCKETS_MS.length && ms > (BUCKETS_MS[place] ?? 0)) place++
    this.buckets[place] = (this.buckets[place] ?? 0) + 1
    this.totalMs += ms
  }

  /** Counts a code of area A or B that reports a failure. */
  countCode(code: number): void {
    const known = this.codes.get(code)
    if (known !== undefined || this.codes.size < MAX_CODES) this.codes.set(code, (known ?? 0) + 1)
  }
}

const LABELS = ['method', 'route'] as const
type Label = (typeof LABELS)[number]

class Durations extends Histogram<Label> {
  readonly #routes: readonly RouteMeter[]

  constructor(routes: readonly RouteMeter[], registers: Registry[]) {
    super({
      name: 'gatehouse_http_request_duration_seconds',
      help: 'How long requests took, by route',
      labelNames: LABELS,
      buckets: BUCKETS_MS.map((ms) => ms / 1000),
      registers,
    })
    this.#routes = routes
  }

  override async get(): ReturnType<Histogram<Label>['get']> {
    const described = await super.get()
    return { ...described, values: this.#routes.flatMap((meter) => this.#valuesOf(meter, described.name)) }
  }

  #valuesOf({ method, route, buckets, totalMs }: RouteMeter, name: string) {
    let below = 0
    const series = [...BUCKETS_MS.map((ms) => ms / 1000), '+Inf'].map((le, place) => {
      below += buckets[place] ?? 0
      return { labels: { le, method, route }, value: below, metricName: `${name}_bucket` }
    })
    if (below === 0) return []
    const labels = { method, route }
    return [
      ...series,
      { labels, value: totalMs / 1000, metricName: `${name}_sum` },
      { labels, value: below, metricName: `${name}_count` },
    ]
  }
}

/** Counts requests by route. Only registered routes are counted, so their number is bounded. */
export class RequestMeter {
  readonly #routes: RouteMeter[] = []
  readonly unknown = this.route('', '(no route)')

  constructor(registry: Registry) {
    const [routes, registers] = [this.#routes, [registry]]
    new Durations(routes, registers)
    new Counter({
      name: 'gatehouse_http_requests_total',
      help: 'Requests by route and outcome: ok, refused (the caller’s mistake), failed (500 or higher)',
      labelNames: [...LABELS, 'outcome'],
      registers,
      collect() {
        this.reset()
        eachOutcome(routes, ({ method, route }, outcome, times) => this.inc({ method, route, outcome }, times))
      },
    })
    new Counter({
      name: 'gatehouse_codes_total',
      help: 'Refusals by rescode of area A or code of area B, by route',
      labelNames: ['route', 'code'],
      registers,
      collect() {
        this.reset()
        for (const { route, codes } of routes) for (const [code, times] of codes) this.inc({ route, code }, times)
      },
    })
    new Counter({
      name: 'gatehouse_notices_total',
      help: 'Notices of partners by outcome',
      labelNames: ['notice', 'outcome'],
      registers,
      collect() {
        this.reset()
        eachOutcome(routes, ({ notice }, outcome, times) => notice && this.inc({ notice, outcome }, times))
      },
    })
  }

  totals(): [ok: number, refused: number, failed: number] {
    const sum = (outcome: RequestOutcome) =>
      this.#routes.reduce((all, { outcomes }) => all + (outcomes[outcome] ?? 0), 0)
    return [sum(OK), sum(REFUSED), sum(FAILED)]
  }

  route(method: string, route: string, notice?: string): RouteMeter {
    const known = this.#routes.find((candidate) => candidate.method === method && candidate.route === route)
    const meter = known ?? new RouteMeter(method, route, notice)
    if (!known) this.#routes.push(meter)
    return meter
  }
}

function eachOutcome(
  routes: readonly RouteMeter[],
  visit: (meter: RouteMeter, outcome: string, times: number) => unknown,
): void {
  for (const meter of routes) {
    for (const [place, outcome] of OUTCOMES.entries()) {
      const times = meter.outcomes[place] ?? 0
      if (times > 0) visit(meter, outcome, times)
    }
  }
}

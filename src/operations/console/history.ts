import { showMicroApp } from '../../authorization/registry/index.ts'
import { addSeconds, beginningOf, DAY_S, fromEpochSeconds, HOUR_S } from '../../platform/lib/clock.ts'
import { type Chart, type ChartInput, chartOf } from '../../platform/lib/web/chart.ts'
import { ifFound } from '../../platform/lib/web/rescode.ts'
import { callsBySpan } from '../../ticketing/partner-calls/index.ts'
import { partnersById } from '../../ticketing/partners/index.ts'
import {
  type ActivitySpan,
  activityBySpan,
  type GatherMetrics,
  hourOf,
  type RankedActivity,
  readLastHour,
  worstSince,
} from '../metrics/index.ts'
import type { Cell, PageContext, Table } from './page-model.ts'
import { at, count, link, text } from './texts.ts'

/** Charts of requests and of calls to partners, and who fails most: over an hour, a day or a month. */

const MINUTE_S = 60
const WORST = 10

const SPANS = ['hour', 'day', 'month'] as const
type Span = (typeof SPANS)[number]

const TEXTS = {
  hour: { link: 'console.home.hour', requests: 'console.home.requests', calls: 'console.home.calls' },
  day: { link: 'console.home.day', requests: 'console.home.requests_day', calls: 'console.home.calls_day' },
  month: { link: 'console.home.month', requests: 'console.home.requests_month', calls: 'console.home.calls_month' },
} as const satisfies Readonly<Record<Span, object>>

export const spanOf = ({ fields }: PageContext): Span => SPANS.find((span) => span === fields.span) ?? 'hour'

export const spanLinks = (chosen: Span, { t }: PageContext) =>
  SPANS.map((span) => ({ href: `/console?span=${span}`, text: t(TEXTS[span].link), isCurrent: span === chosen }))

const KINDS = {
  all: 'console.home.legend_all',
  refused: 'console.home.legend_refused',
  failed: 'console.home.legend_failed',
} as const

const legendOf = (kinds: readonly (keyof typeof KINDS)[], { t }: PageContext) =>
  kinds.map((kind) => ({ kind, text: t(KINDS[kind]) }))

type Bars = Pick<ChartInput, 'since' | 'spanS' | 'spans'>

const totalOf = ({ spans }: Bars, of: (span: Bars['spans'][number]) => number): string =>
  count(spans.reduce((sum, span) => sum + of(span), 0))

/** Spans without activity become empty bars. */
const barsOf = (since: Date, spanS: number, many: number, active: readonly ActivitySpan[]): Bars => {
  const known = new Map(active.map((span) => [span.span, span]))
  const spans = Array.from({ length: many }, (_, place) => {
    const { total: all = 0, refused = 0, failed = 0 } = known.get(place) ?? {}
    return { all, refused, failed }
  })
  return { since, spanS, spans }
}

async function storedBars({ deps }: PageContext, kind: 'requests' | 'call', span: 'day' | 'month'): Promise<Bars> {
  const { since, spanS, many } = periodOf(span, deps.clock.now())
  return barsOf(since, spanS, many, await activityBySpan(deps.db, kind, since, spanS))
}

/** Whole hours or UTC days, up to and including the present one. */
function periodOf(span: 'day' | 'month', now: Date) {
  if (span === 'day') return { since: addSeconds(hourOf(now), -23 * HOUR_S), spanS: HOUR_S, many: 24 }
  const today = beginningOf(now, DAY_S)
  return { since: addSeconds(today, -29 * DAY_S), spanS: DAY_S, many: 30 }
}

async function requestBars(context: PageContext, gather: GatherMetrics, span: Span): Promise<Bars> {
  if (span !== 'hour') return storedBars(context, 'requests', span)
  const minutes = await readLastHour(gather, context.deps.clock)
  const spans = minutes.map(({ ok, refused, failed }) => ({ all: ok + refused + failed, refused, failed }))
  return { since: minutes[0]?.at ?? fromEpochSeconds(0), spanS: MINUTE_S, spans }
}

async function callBars(context: PageContext, span: Span): Promise<Bars> {
  if (span !== 'hour') return storedBars(context, 'call', span)
  const { db, clock } = context.deps
  const [spanS, many] = [5 * MINUTE_S, 12]
  // A second less than an hour, so that a call made now falls into the last span and not beyond it.
  const since = addSeconds(clock.now(), 1 - HOUR_S)
  const active = await callsBySpan(db, since, spanS)
  return barsOf(
    since,
    spanS,
    many,
    active.map(({ calls, ...span }) => ({ ...span, total: calls, refused: 0 })),
  )
}

export async function chartsOf(context: PageContext, gather: GatherMetrics, span: Span): Promise<Chart[]> {
  const { t } = context
  const [requests, calls] = await Promise.all([requestBars(context, gather, span), callBars(context, span)])
  const sums = {
    requests: totalOf(requests, ({ all }) => all),
    refused: totalOf(requests, ({ refused = 0 }) => refused),
    failed: totalOf(requests, ({ failed }) => failed),
  }
  const mostOf = (key: string) => (most: number) => t(key, { most: count(most) })
  const mostKept = span === 'day' ? 'console.home.most_day' : 'console.home.most_month'
  return [
    chartOf({
      ...requests,
      id: 'requests',
      title: t(TEXTS[span].requests),
      summary: t(span === 'hour' ? 'console.home.requests_summary' : 'console.home.requests_kept', sums),
      legend: legendOf(['all', 'refused', 'failed'], context),
      mostOf: mostOf(span === 'hour' ? 'console.home.most_requests' : mostKept),
    }),
    chartOf({
      ...calls,
      id: 'calls',
      title: t(TEXTS[span].calls),
      summary: t('console.home.calls_summary', {
        calls: totalOf(calls, ({ all }) => all),
        failed: totalOf(calls, ({ failed }) => failed),
      }),
      legend: legendOf(['all', 'failed'], context),
      mostOf: mostOf(span === 'hour' ? 'console.home.most_calls' : mostKept),
    }),
  ]
}

/** Partners and apps with the most failed or refused requests. */
export async function worstOf(context: PageContext, span: Span): Promise<Table[]> {
  const { deps, t } = context
  const since = span === 'hour' ? hourOf(addSeconds(deps.clock.now(), -HOUR_S)) : periodOf(span, deps.clock.now()).since
  const [partners, apps] = await Promise.all([
    worstSince(deps.db, ['call', 'notice'], since, WORST),
    worstSince(deps.db, ['app'], since, WORST),
  ])
  const known = await partnersById(
    deps,
    partners.map(({ subject }) => BigInt(subject)),
  )
  const table = async (
    [title, who]: readonly [string, string],
    ranking: readonly RankedActivity[],
    linkTo: (id: string) => Promise<Cell>,
  ): Promise<Table> => ({
    title: t(title),
    head: [t(who), t('console.home.failed'), t('console.home.refused'), t('console.home.of')],
    rows: await Promise.all(
      ranking.map(async ({ subject, total, refused, failed }) => [
        await linkTo(subject),
        ...[failed, refused, total].map((value) => text(count(value))),
      ]),
    ),
    none: t('console.home.no_failures'),
  })
  return Promise.all([
    table(['console.home.worst_partners', 'console.field.partner'], partners, async (id) =>
      link(known.get(BigInt(id))?.name ?? id, at('partners', id)),
    ),
    table(['console.home.worst_apps', 'console.field.app'], apps, async (id) =>
      link((await ifFound(showMicroApp(deps, id)))?.name ?? id, at('apps', id)),
    ),
  ])
}

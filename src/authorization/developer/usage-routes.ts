import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, DAY_S } from '../../platform/lib/clock.ts'
import { csvLine, EXPORT_TYPES } from '../../platform/lib/csv.ts'
import type { UsageKind } from '../../platform/lib/usage.ts'
import { chartOf } from '../../platform/lib/web/chart.ts'
import { sendDownload } from '../../platform/lib/web/download.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { nameOfRescode } from '../../platform/lib/web/rescode.ts'
import { APP_RATES } from '../../platform/throttle/index.ts'
import { showMicroApp } from '../registry/index.ts'
import { type DayOfUsage, KEPT_DAYS, recentUsage } from '../usage/index.ts'
import { APP, developerPages } from './guard.ts'

const USAGE = `${APP}/usage`
/** Days on the page; the CSV file has everything that is kept. */
const DAYS = 30

/** One chart and one column each. */
const SERIES = [
  { id: 'authorizations', kinds: ['authorization'] },
  { id: 'exchanges', kinds: ['exchange'] },
  { id: 'refreshes', kinds: ['refresh'] },
  { id: 'reads', kinds: ['read'] },
  { id: 'refusals', kinds: ['refused', 'claimed'] },
] as const satisfies readonly { readonly id: string; readonly kinds: readonly UsageKind[] }[]
type Series = (typeof SERIES)[number]

const isOf = ({ kinds }: Series, { kind }: DayOfUsage): boolean => kinds.some((counted) => counted === kind)

/** Daily usage of an app and its rate limits: charts, a table and a CSV file. */
export const usageRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { developer } = (await developerPages(app, deps)).forApp

  developer.get(USAGE, async ({ app: { app_key }, page, t }) => {
    const { name } = await showMicroApp(deps, app_key)
    const { since, usage } = await recentUsage(deps, app_key, DAYS)
    const days = byDay(since, usage)
    const sumsOf = (place: number) => days.map(({ sums }) => sums[place] ?? 0)
    return page('home', 'developer/usage', {
      app: { app_key, name },
      days: DAYS,
      kept: KEPT_DAYS,
      charts: SERIES.map((series, place) => chart(series, since, sumsOf(place), t)),
      // Newest first, unlike the charts.
      table: days
        .toReversed()
        .filter(({ sums }) => sums.some((sum) => sum > 0))
        .map(({ day, sums }) => ({ day, sums: sums.map(shown) })),
      errors: errorsIn(usage),
      limits: limitsOf(deps, app_key),
    })
  })

  developer.get(`${USAGE}.csv`, async ({ app: { app_key }, reply }) => {
    const { usage } = await recentUsage(deps, app_key, KEPT_DAYS)
    const lines = usage.map(({ day, kind, code, times }) =>
      csvLine([day.toISOString().slice(0, 10), kind, code === 0 ? '' : String(code), String(times)]),
    )
    const parts = [csvLine(['day', 'kind', 'rescode', 'times']), ...lines]
    return sendDownload(reply, { name: `usage-${app_key}.csv`, type: EXPORT_TYPES.csv, parts })
  })
}

function byDay(since: Date, usage: readonly DayOfUsage[]) {
  return Array.from({ length: DAYS }, (_, place) => {
    const day = addSeconds(since, place * DAY_S)
    const ofDay = usage.filter((row) => row.day.getTime() === day.getTime())
    const sums = SERIES.map((series) => totalOf(ofDay.filter((row) => isOf(series, row))))
    return { day: day.toISOString().slice(0, 10), sums }
  })
}

const totalOf = (usage: readonly DayOfUsage[]): number => usage.reduce((sum, { times }) => sum + times, 0)
const shown = (count: number): string => count.toLocaleString('en-US')

function chart({ id }: Series, since: Date, sums: readonly number[], t: Translate) {
  const total = sums.reduce((sum, count) => sum + count, 0)
  return chartOf({
    id,
    title: t(`developer.usage.${id}`),
    summary: t('developer.usage.total', { total: shown(total) }),
    legend: [],
    since,
    spanS: DAY_S,
    spans: sums.map((all) => ({ all, refused: id === 'refusals' ? all : 0, failed: 0 })),
    mostOf: (most) => t('developer.usage.most', { most: shown(Math.min(most, total)) }),
  })
}

/** Most frequent first. */
function errorsIn(usage: readonly DayOfUsage[]) {
  const refused = usage.filter(({ kind }) => kind === 'refused' || kind === 'claimed')
  const codes = [...new Set(refused.map(({ code }) => code))].map((code) => {
    const ofCode = refused.filter((row) => row.code === code)
    return { code, times: totalOf(ofCode), claimed: totalOf(ofCode.filter(({ kind }) => kind === 'claimed')) }
  })
  return codes
    .sort((a, b) => b.times - a.times || a.code - b.code)
    .map(({ code, times, claimed }) => {
      return { code, name: nameOfRescode(code), times: shown(times), claimed: claimed > 0 ? shown(claimed) : null }
    })
}

/** Limits per minute, and how much of each is used in the current one. */
const limitsOf = ({ config, rateLimiter }: Deps, appKey: string) =>
  Object.entries(APP_RATES).map(([id, rateOf]) => {
    const rate = rateOf(config)
    const { uses } = rateLimiter.count(rate, appKey, 0)
    return { id, most: shown(rate.most), used: shown(Math.min(uses, rate.most)), part: Math.min(1, uses / rate.most) }
  })

import { listAudit } from '../audit/index.ts'
import { jobCounts } from '../jobs/index.ts'
import { addSeconds } from '../lib/clock.ts'
import { RescodeError } from '../lib/web/rescode.ts'
import { callsBySpan } from '../partner-calls/index.ts'
import { showPartner } from '../partners/index.ts'
import { mayDo } from './permissions.ts'
import type { Asking, Cell, Fact } from './shown.ts'
import { at, count, link, text, time } from './texts.ts'

/** What needs an eye now: jobs, partners that do not answer, calls of the last hour. */

const HOUR_S = 3_600
const SPAN_S = 300
const SPANS = HOUR_S / SPAN_S
/** Partners named on the page. */
const MOST_NAMED = 20

/** One bar of the chart, in units of its view box. */
interface Bar {
  readonly x: number
  readonly y: number
  readonly height: number
  /** Of the failed ones, at the foot. */
  readonly failedHeight: number
  readonly failedY: number
  readonly label: string
}

const BAR_PITCH = 20
const CHART_HEIGHT = 80

export async function homePage(asking: Asking) {
  const { deps, t, role } = asking
  const now = deps.clock.now()
  // A call of this very moment is of the last span, not of one more.
  const since = addSeconds(now, 1 - HOUR_S)
  const [jobs, spans, waiting, refused] = await Promise.all([
    jobCounts(deps),
    callsBySpan(deps.db, since, SPAN_S),
    openBreakers(asking),
    listAudit(deps, { action: 'operator_sign_in_', from: since, limit: MOST_COUNTED }),
  ])
  const calls = spans.reduce((sum, span) => sum + span.calls, 0)
  const failed = spans.reduce((sum, span) => sum + span.failed, 0)
  const isBehind = jobs.oldest_due !== null && jobs.oldest_due < addSeconds(now, -SPAN_S)
  const jobsLink = (query: string, value: number): Cell =>
    mayDo(role, 'GET /jobs') ? link(count(value), `${at('jobs')}${query}`) : text(count(value))
  const facts: Fact[] = [
    {
      name: t('console.home.database'),
      cells: [{ text: t('console.home.answers'), tone: 'good' }],
    },
    {
      name: t('console.home.waiting'),
      cells: [jobsLink('', jobs.waiting + jobs.running), ...(isBehind ? [behind(jobs.oldest_due, t)] : [])],
    },
    {
      name: t('console.home.failed_jobs'),
      cells: [{ ...jobsLink('?failed=true', jobs.failed), tone: jobs.failed > 0 ? 'bad' : 'good' }],
    },
    {
      name: t('console.home.breakers'),
      cells: waiting.length > 0 ? waiting : [{ text: t('console.home.none'), tone: 'good' }],
    },
    {
      name: t('console.home.sign_ins'),
      cells: [
        link(
          `${count(refused.events.length)}${refused.next === null ? '' : '+'}`,
          `${at('audit')}?${new URLSearchParams({ action: 'operator_sign_in_' })}`,
        ),
      ],
    },
  ]
  const chart = {
    summary: t('console.home.calls_summary', { calls: count(calls), failed: count(failed) }),
    bars: barsOf(spans, since),
    width: SPANS * BAR_PITCH,
    height: CHART_HEIGHT,
    from: time(since).text.slice(11, 16),
    to: time(now).text.slice(11, 16),
  }
  return { facts, chart, isFirst: role === 'admin' && deps.actor?.name === 'ADMIN_TOKEN' }
}

const MOST_COUNTED = 100

const behind = (since: Date | null, t: Asking['t']): Cell => ({
  text: t('console.home.behind', { since: time(since).text }),
  tone: 'bad',
})

async function openBreakers({ deps }: Asking): Promise<Cell[]> {
  const ids = deps.calls.breakers.open().slice(0, MOST_NAMED)
  return Promise.all(
    ids.map(async (id): Promise<Cell> => {
      const partner = await showPartner(deps, id).catch((error: unknown) => {
        if (error instanceof RescodeError) return undefined
        throw error
      })
      return { ...link(partner?.name ?? String(id), at('partners', String(id))), tone: 'bad' }
    }),
  )
}

function barsOf(spans: Awaited<ReturnType<typeof callsBySpan>>, since: Date): Bar[] {
  const most = Math.max(1, ...spans.map(({ calls }) => calls))
  return Array.from({ length: SPANS }, (_, index): Bar => {
    const { calls = 0, failed = 0 } = spans.find(({ span }) => span === index) ?? {}
    const height = Math.round((calls / most) * CHART_HEIGHT)
    const failedHeight = failed === 0 ? 0 : Math.max(2, Math.round((failed / most) * CHART_HEIGHT))
    const start = time(addSeconds(since, index * SPAN_S)).text.slice(11, 16)
    return {
      x: index * BAR_PITCH,
      y: CHART_HEIGHT - height,
      height,
      failedHeight,
      failedY: CHART_HEIGHT - failedHeight,
      label: `${start}: ${calls} / ${failed}`,
    }
  })
}

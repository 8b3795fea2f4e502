import { z } from 'zod'
import { type OutputOf, parseInput, readingReason } from '../../../platform/lib/json/input.ts'
import { whyNotKept } from '../../../platform/lib/web/body-placeholder.ts'
import { worded } from '../../../platform/lib/web/worded.ts'
import {
  oneOfAllTraffic,
  recordReading,
  showEntry,
  showMaskedEntry,
  type shownText,
  trafficTexts,
} from '../../../sandbox/portal/index.ts'
import type { DetailPage, Fact, FormPage, PageContext, Table, TextBlock } from '../page-model.ts'
import { PERSONAL_DATA } from '../permissions.ts'
import { at, code, fact, hrefOf, link, orDash, text, time } from '../texts.ts'

type TrafficEntry = OutputOf<typeof showEntry>

/** The page of one call or notice. */
const trafficLink = (partner_id: bigint, kind: TrafficEntry['kind'], id: string): string =>
  hrefOf(['/traffic/:partner_id/:kind/:id', { partner_id, kind, id }])

const wayOf = (direction: 'in' | 'out', { t }: PageContext): string =>
  direction === 'out' ? t('console.orders.we_called') : t('console.orders.they_called')

const idOf = ({ params }: PageContext) => parseInput(oneOfAllTraffic, params)

const bodyOf = (body: OutputOf<typeof shownText>, title: string, t: PageContext['t']): TextBlock => {
  const { unreadable } = body
  const why = whyNotKept(body.text)
  const text = why ? '' : body.text
  const notes = [
    ...(body.encrypted ? [t('console.traffic.encrypted')] : []),
    ...(body.cutFrom ? [t('console.traffic.cut', { all: String(body.cutFrom) })] : []),
    ...(unreadable ? [t('console.traffic.unreadable')] : []),
    ...(why ? [worded(why, t)] : []),
    ...(body.text === '' && !unreadable ? [t('console.traffic.empty')] : []),
  ]
  return { title, text, note: notes.join(' ') }
}

async function entryOf(context: PageContext, isMasked: boolean) {
  const { deps, t, locale } = context
  const { partner_id, ...id } = idOf(context)
  const entry = await (isMasked ? showMaskedEntry : showEntry)(deps, partner_id, id)
  const texts = trafficTexts(locale)
  const blocks = [
    bodyOf(entry.request.body, t('console.traffic.sent'), t),
    ...(entry.response ? [bodyOf(entry.response.body, t('console.traffic.answered'), t)] : []),
  ]
  return { entry, texts, blocks, partner_id }
}

async function readOne(context: PageContext) {
  const { t } = context
  const { entry, texts, blocks, partner_id } = await entryOf(context, true)
  return {
    title: `${wayOf(entry.direction, context)}${texts.name(entry.name)}`,
    notice: t('console.traffic.masked'),
    facts: factsOf(entry, partner_id, context),
    texts: blocks,
    tables: [
      ...headersOf(entry.request.headers, t('console.traffic.sent_headers'), context),
      ...headersOf(entry.response?.headers, t('console.traffic.answered_headers'), context),
    ],
    actions: [
      {
        operation: PERSONAL_DATA,
        href: `${trafficLink(partner_id, entry.kind, entry.id)}/unmask`,
        text: t('action.user_show_more'),
      },
    ],
  }
}

function factsOf(entry: TrafficEntry, partnerId: bigint, context: PageContext): Fact[] {
  const { t, locale } = context
  const texts = trafficTexts(locale)
  const { failure, problems, mistakes, warnings } = entry
  const why = [
    ...(failure && mistakes.length === 0 ? [text(texts.reason(failure.detail))] : []),
    ...problems.map(({ path, problem }) => text(`${path} ${texts.reason(problem)}`.trim())),
    ...mistakes.map((name) => text(texts.mistake(name))),
  ]
  return [
    fact(t('console.field.at'), time(entry.at)),
    fact('PartnerId', link(String(partnerId), at('partners', String(partnerId)))),
    fact(
      t('console.field.outcome'),
      { text: texts.outcome(entry.outcome), tone: entry.outcome.tone },
      ...(entry.verified ? [] : [text(t('console.traffic.unverified'))]),
    ),
    fact(t('sandbox.traffic.cause'), ...(entry.cause ? [text(texts.cause(entry))] : [])),
    fact(t('console.explain.why'), ...why),
    fact('code', orDash(entry.code)),
    fact('HTTP', orDash(entry.response?.status ?? null)),
    fact(t('console.traffic.duration'), orDash(entry.durationMs === null ? null : `${entry.durationMs} ms`)),
    fact(t('console.traffic.address'), code(`${entry.request.method} ${entry.request.url}`)),
    fact(t('console.explain.warnings'), ...warnings.map((name) => text(texts.mistake(name)))),
    fact(
      t('console.field.more'),
      ...(entry.orderId ? [link(t('console.orders.one', { order: entry.orderId }), at('orders', entry.orderId))] : []),
      ...(entry.direction === 'in' ? [link(t('console.traffic.explain'), at('requests', entry.id))] : []),
      link(t('console.traffic.of_partner'), hrefOf(['/traffic', { partner_id: partnerId }])),
    ),
  ].filter(({ cells }) => cells.length > 0)
}

const headersOf = (
  headers: readonly (readonly [name: string, value: string])[] | undefined,
  title: string,
  { t }: PageContext,
): Table[] =>
  headers
    ? [
        {
          title,
          head: [t('console.field.name'), t('console.field.value')],
          rows: headers.map(([name, value]) => [code(name), code(value)]),
          none: t('console.home.none'),
        },
      ]
    : []

const reasonInput = z.object({ reason: readingReason })

/** Shows bodies with personal data, but without secrets, after recording who asked and why. */
export const unmask: FormPage = {
  path: '/traffic/:partner_id/:kind/:id/unmask',
  operation: PERSONAL_DATA,
  title: 'action.user_show_more',
  back: (context) => {
    const { partner_id, kind, id } = idOf(context)
    return trafficLink(partner_id, kind, id)
  },
  confirm: async (context) => {
    const { partner_id, kind, id } = idOf(context)
    return {
      says: [context.t('console.traffic.unmask_says')],
      fields: [{ name: 'reason', label: context.t('console.field.reason'), kind: 'text', required: true, most: 500 }],
      back: trafficLink(partner_id, kind, id),
    }
  },
  run: async (context) => {
    const { reason } = parseInput(reasonInput, { reason: context.fields.reason ?? '' })
    const { entry, blocks, partner_id } = await entryOf(context, false)
    await recordReading(context.deps, partner_id, entry, reason)
    return { note: context.t('action.user_show_more.once'), values: [], texts: blocks }
  },
}

export const entryPage: DetailPage = {
  path: '/traffic/:partner_id/:kind/:id',
  operation: 'GET /traffic/:id',
  read: readOne,
}

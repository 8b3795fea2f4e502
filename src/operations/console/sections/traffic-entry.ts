import { z } from 'zod'
import { type OutputOf, parseInput, readingReason } from '../../../platform/lib/json/input.ts'
import {
  oneOfAllTraffic,
  recordReading,
  showEntry,
  showMaskedEntry,
  type shownText,
  trafficTexts,
} from '../../../sandbox/portal/index.ts'
import type { Cell, DetailPage, Fact, FormPage, PageContext, Table, TextBlock, Tone } from '../page-model.ts'
import { PERSONAL_DATA } from '../permissions.ts'
import { at, code, hrefOf, link, orDash, text, time } from '../texts.ts'

type TrafficEntry = OutputOf<typeof showEntry>

/** One call or notice of a partner. */

const TONES: Readonly<Record<string, Tone>> = { good: 'good', bad: 'bad', warning: 'warn' }

/** The page of one call or notice. */
const trafficLink = (partner_id: bigint, kind: TrafficEntry['kind'], id: string): string =>
  hrefOf(['/traffic/:partner_id/:kind/:id', { partner_id, kind, id }])

const outcomeCell = (outcome: TrafficEntry['outcome'], { locale }: PageContext): Cell => ({
  text: trafficTexts(locale).outcome(outcome),
  tone: TONES[outcome.tone] ?? 'plain',
})

const wayOf = (direction: 'in' | 'out', { t }: PageContext): string =>
  direction === 'out' ? t('console.orders.we_called') : t('console.orders.they_called')

const idOf = ({ params }: PageContext) => parseInput(oneOfAllTraffic, params)

const bodyOf = (body: OutputOf<typeof shownText>, title: string, t: PageContext['t']): TextBlock => {
  const { text, unreadable } = body
  const notes = [
    ...(body.encrypted ? [t('console.traffic.encrypted')] : []),
    ...(body.cutFrom ? [t('console.traffic.cut', { all: String(body.cutFrom) })] : []),
    ...(unreadable ? [t('console.traffic.unreadable')] : []),
    ...(text === '' && !unreadable ? [t('console.traffic.empty')] : []),
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
    { name: t('console.field.at'), cells: [time(entry.at)] },
    { name: 'PartnerId', cells: [link(String(partnerId), at('partners', String(partnerId)))] },
    {
      name: t('console.field.outcome'),
      cells: [outcomeCell(entry.outcome, context), ...(entry.verified ? [] : [text(t('console.traffic.unverified'))])],
    },
    ...(entry.cause ? [{ name: t('sandbox.traffic.cause'), cells: [text(texts.cause(entry))] }] : []),
    ...(why.length > 0 ? [{ name: t('console.explain.why'), cells: why }] : []),
    { name: 'code', cells: [orDash(entry.code)] },
    { name: 'HTTP', cells: [orDash(entry.response?.status ?? null)] },
    {
      name: t('console.traffic.duration'),
      cells: [entry.durationMs === null ? text('–') : text(`${entry.durationMs} ms`)],
    },
    { name: t('console.traffic.address'), cells: [code(`${entry.request.method} ${entry.request.url}`)] },
    ...(warnings.length > 0
      ? [{ name: t('console.explain.warnings'), cells: warnings.map((name) => text(texts.mistake(name))) }]
      : []),
    {
      name: t('console.field.more'),
      cells: [
        ...(entry.orderId
          ? [link(t('console.orders.one', { order: entry.orderId }), at('orders', entry.orderId))]
          : []),
        ...(entry.direction === 'in' ? [link(t('console.traffic.explain'), at('requests', entry.id))] : []),
        link(t('console.traffic.of_partner'), hrefOf(['/traffic', { partner_id: partnerId }])),
      ],
    },
  ]
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

/** The bodies as they came, secrets masked; who asked and why is kept first. */
export const unmask: FormPage = {
  path: '/traffic/:partner_id/:kind/:id/unmask',
  operation: PERSONAL_DATA,
  title: 'action.user_show_more',
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

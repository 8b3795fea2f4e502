import { checkText } from '../../authorization/refusals/index.ts'
import type { auditBetween } from '../../platform/audit/index.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { trafficTexts } from '../../sandbox/portal/index.ts'
import type { ExplainedRefusal, ExplainedRequest } from '../explain/index.ts'
import type { Cell, Fact, PageContext, Table } from './page-model.ts'
import { at, code, link, orDash, text, time, yesNo } from './texts.ts'

/** What `gatehouse explain` knows, as facts and tables of a page. */

const requestLink = (id: string | null): Cell =>
  id === null ? text('–') : { ...link(id, at('requests', id)), isCode: true }

export const trafficLink = (partnerId: bigint, kind: 'call' | 'notice' | 'rejected', id: string): string =>
  at('traffic', String(partnerId), kind, id)

export const partnerLink = (id: bigint | null): Cell =>
  id === null ? text('–') : link(String(id), at('partners', String(id)))

export const userLink = (cid: number | null, user_id: string | null): Cell =>
  cid === null || user_id === null
    ? text('–')
    : link(`${cid}/${user_id}`, `${at('users', 'user')}?${new URLSearchParams({ cid: String(cid), user_id })}`)

const appLink = (key: string | null): Cell => (key === null ? text('–') : link(key, at('apps', key)))

/** The row of an order of checks in the REFERENCE and what it checks; the failure's name if no row has it. */
const whyCell = ({ endpoint, step, failure }: ExplainedRefusal, { t, locale }: PageContext): Cell =>
  step
    ? text(t('console.explain.row', { endpoint, row: String(step.row), check: checkText(step.check, locale) }))
    : orDash(failure)

/** What the request had, beside what the app has registered. */
const comparedFacts = (
  { received }: ExplainedRefusal,
  registered: ExplainedRequest['registered'],
  { t }: PageContext,
): Fact[] => [
  ...Object.entries(received ?? {}).map(([name, value]) => ({
    name: t('console.explain.received', { name }),
    cells: [code(value)],
  })),
  ...Object.entries(registered ?? {}).map(([name, values]) => ({
    name: t('console.explain.registered', { name }),
    cells: values.length > 0 ? values.map(code) : [text('–')],
  })),
]

const answered = ({ rescode, answer, status }: ExplainedRefusal): Cell => code(`${rescode} ${answer} (HTTP ${status})`)

export const refusalFacts = (
  refusal: ExplainedRefusal,
  registered: ExplainedRequest['registered'],
  context: PageContext,
): Fact[] => {
  const { t } = context
  return [
    { name: t('console.field.at'), cells: [time(refusal.at)] },
    { name: t('console.explain.came'), cells: [code(`${refusal.method} ${refusal.endpoint}`)] },
    { name: t('console.explain.parameters'), cells: [orDash(refusal.parameters.join(' '))] },
    { name: t('console.explain.answered'), cells: [answered(refusal)] },
    {
      name: t('console.explain.why'),
      cells: [whyCell(refusal, context), ...(refusal.detail === null ? [] : [code(refusal.detail)])],
    },
    ...comparedFacts(refusal, registered, context),
    {
      name: t('console.field.app'),
      cells: [
        appLink(refusal.app_key),
        ...(refusal.app_key === null || refusal.proved ? [] : [text(t('console.explain.unproved'))]),
      ],
    },
    { name: t('console.field.person'), cells: [userLink(refusal.cid, refusal.user_id)] },
    {
      name: t('console.explain.token'),
      cells: [
        refusal.token === null
          ? text('–')
          : link(refusal.token, `${at('search')}?${new URLSearchParams({ q: refusal.token })}`),
      ],
    },
  ]
}

/** `title` and the text of an empty table differ by what it is about. */
export const refusalTable = (
  refusals: readonly ExplainedRefusal[],
  { title, none }: { readonly title: string; readonly none: string },
  context: PageContext,
): Table => {
  const { t } = context
  return {
    title,
    none,
    head: [
      t('console.field.at'),
      t('console.field.request'),
      t('console.explain.came'),
      t('console.explain.answered'),
      t('console.explain.why'),
    ],
    rows: refusals.map((one) => [
      time(one.at),
      requestLink(one.request_id),
      code(`${one.method} ${one.endpoint}`),
      answered(one),
      whyCell(one, context),
    ]),
  }
}

export const rejectedFacts = (
  call: NonNullable<ExplainedRequest['rejected_call']>,
  { t, locale }: PageContext,
): Fact[] => [
  { name: t('console.field.at'), cells: [time(call.received_at)] },
  { name: t('console.field.partner'), cells: [partnerLink(call.partner_id)] },
  { name: t('console.explain.came'), cells: [code(call.path)] },
  { name: t('console.explain.why'), cells: [text(trafficTexts(locale).reason(call.reason))] },
  { name: t('console.explain.verified'), cells: [yesNo(call.verified, t)] },
  { name: t('console.explain.answered'), cells: [code(call.answer)] },
  ...(call.partner_id === null
    ? []
    : [
        {
          name: t('console.field.more'),
          cells: [link(t('console.explain.in_traffic'), trafficLink(call.partner_id, 'rejected', call.id))],
        },
      ]),
]

export const noticeFacts = (notice: NonNullable<ExplainedRequest['notice']>, { t }: PageContext): Fact[] => [
  { name: t('console.field.at'), cells: [time(notice.received_at)] },
  { name: t('console.field.partner'), cells: [partnerLink(notice.partner_id)] },
  { name: t('console.explain.came'), cells: [code(notice.path)] },
  { name: t('console.explain.warnings'), cells: [orDash(notice.warnings)] },
  { name: t('console.explain.answered'), cells: [code(notice.answer)] },
  {
    name: t('console.field.more'),
    cells: [link(t('console.explain.in_traffic'), trafficLink(notice.partner_id, 'notice', notice.id))],
  },
]

export const rejectedTable = (
  calls: readonly NonNullable<ExplainedRequest['rejected_call']>[],
  title: string,
  { t, locale }: PageContext,
): Table => ({
  title,
  none: t('console.explain.no_rejected'),
  head: [
    t('console.field.at'),
    t('console.field.request'),
    t('console.explain.came'),
    t('console.explain.why'),
    t('console.explain.verified'),
  ],
  rows: calls.map((call) => [
    time(call.received_at),
    requestLink(call.id),
    code(call.path),
    text(trafficTexts(locale).reason(call.reason)),
    yesNo(call.verified, t),
  ]),
})

export const followedTable = (rows: Readonly<OutputOf<typeof auditBetween>>, { t }: PageContext): Table => ({
  title: t('console.explain.followed_audit'),
  none: t('console.explain.nothing_followed'),
  head: [t('console.field.at'), t('console.field.what'), t('console.field.who'), t('console.field.person')],
  rows: rows.map((row) => [time(row.at), code(row.event), text(row.actor), userLink(row.cid, row.user_id)]),
})

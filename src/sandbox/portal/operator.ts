import { action, onTerminal } from '../../platform/lib/action.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import type { NoticeDeps } from '../../ticketing/mtp/index.ts'
import { oneOrder, showOrder } from '../../ticketing/orders/index.ts'
import { type LineOfAll, listAllTraffic, maskedLine } from './traffic/list-all-partners.ts'
import { showTraffic } from './traffic/show-entry.ts'
import { trafficTexts } from './traffic/texts.ts'
import { timelineOf } from './traffic/timeline.ts'

const textsFor = ({ locale }: Translate) => trafficTexts(locale, 'operator')

/** The call's direction and name. */
function whatOf(line: LineOfAll, t: Translate): string {
  const texts = textsFor(t)
  if (line.left_out !== null) return texts.leftOut(line)
  return (
    (line.direction === 'out' ? t('console.orders.we_called') : t('console.orders.they_called')) + texts.name(line.name)
  )
}

const causeOf = ({ cause, cause_ref }: LineOfAll): string => [cause, cause_ref].filter(Boolean).join(' ')

type Failure = NonNullable<OutputOf<typeof showTraffic>['failure']>
type Message = Partial<OutputOf<typeof showTraffic>['request'] & OutputOf<typeof showTraffic>['response']>

const messageText = ({ headers = [], body = '', cut_from }: Message): string =>
  [
    ...(cut_from === undefined ? [] : [`the beginning of ${cut_from} characters:`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...['', body || '-'],
  ].join('\n')

/** The request or the response of a call. */
const messageAs = (name: string) =>
  onTerminal<Message>([
    { name: 'address', of: ({ method, url }) => url && `${method} ${url}` },
    { name: 'http', of: ({ status }) => status },
    { name, of: messageText },
  ])

const CALL_PAGE = '/traffic/:partner_id/:kind/:id'

const TONES = { good: 'good', bad: 'bad', warning: 'warn' } as const

/** Calls and notices of all partners, for operators. Bodies are unmasked only if they give a reason. */
export const TRAFFIC_ACTIONS = [
  action({
    route: 'GET /traffic',
    command: 'traffic list',
    role: 'viewer',
    run: listAllTraffic,
    list: {
      rows: 'traffic',
      opens: ({ left_out }) => left_out === null,
      columns: [
        'at',
        { name: 'partner', of: ({ partner_id }) => partner_id, onTerminalOnly: true },
        { name: 'way', of: ({ direction }) => direction, onTerminalOnly: true },
        { name: 'what', of: ({ name }) => name, onTerminalOnly: true },
        { name: 'partner_id', onPagesOnly: true },
        { name: 'what', of: whatOf, onPagesOnly: true },
        {
          name: 'outcome',
          of: ({ outcome }, t) => textsFor(t).outcome(outcome),
          tone: ({ outcome }) => TONES[outcome.tone],
        },
        'code',
        { name: 'cause', of: causeOf, onTerminalOnly: true },
        { name: 'cause', of: (line, t) => textsFor(t).cause(line), onPagesOnly: true },
        {
          name: 'id',
          of: ({ kind, id, left_out }) => (left_out === null ? `${kind}/${id}` : null),
          onTerminalOnly: true,
        },
        { name: 'detail', of: ({ detail }, t) => (detail === null ? null : textsFor(t).reasonExcerpt(detail)) },
      ],
    },
  }),
  action({
    route: 'GET /traffic/:id',
    command: 'traffic show',
    role: 'viewer',
    page: { path: CALL_PAGE, about: ['partner_id', 'kind', 'id'] },
    elevated: { role: 'support', fields: ['reason'], what: 'unmasked personal data' },
    recordsLook: true,
    run: showTraffic,
    parts: { failure: onTerminal<Failure>(['detail']), request: messageAs('sent'), response: messageAs('answered') },
  }),
]

type Moment = OutputOf<typeof timelineOf>['moments'][number]
type Change = Omit<Extract<Moment, { kind: 'state' }>, 'kind' | 'cause'>
type OneMoment = Change | LineOfAll

const momentOf = (partner_id: bigint, moment: Moment): OneMoment => {
  if (moment.kind === 'call') return { ...maskedLine(moment.line), partner_id }
  const { at, record, id, from, to } = moment
  return { at, record, id, from, to }
}

const isChange = (moment: OneMoment): moment is Change => 'record' in moment

function outcomeOf(moment: OneMoment, t: Translate, stateText: (state: string) => string): string {
  if (isChange(moment)) return `${moment.from === null ? '–' : stateText(moment.from)} → ${stateText(moment.to)}`
  const outcome = textsFor(t).outcome(moment.outcome)
  return moment.code === null ? outcome : `${outcome} · code ${moment.code}`
}

/** All calls and notices about an order, and all state changes of the order and its refunds. */
export const ORDER_TIMELINE = action({
  route: 'GET /orders/:order_id/timeline',
  command: 'order timeline',
  role: 'viewer',
  input: oneOrder,
  run: async (deps: NoticeDeps, { order_id }) => {
    const { partner_id } = (await showOrder(deps, order_id)).order
    const { moments, isCut } = await timelineOf(deps, partner_id, order_id)
    return { timeline: moments.map((moment) => momentOf(partner_id, moment)), is_cut: isCut }
  },
  cut: ({ is_cut }) => (is_cut ? 'sandbox.timeline.cut' : undefined),
  list: {
    rows: 'timeline',
    onRecord: true,
    columns: [
      'at',
      {
        name: 'what',
        of: (moment, t) => (isChange(moment) ? t(`console.orders.${moment.record}_moved`) : whatOf(moment, t)),
        page: ({ partner_id, kind, id }) => (kind ? [CALL_PAGE, { partner_id, kind, id }] : undefined),
      },
      { name: 'outcome', of: (moment, t) => outcomeOf(moment, t, (state) => state), onTerminalOnly: true },
      {
        name: 'outcome',
        of: (moment, t) => outcomeOf(moment, t, (state) => t(`console.state.${state}`)),
        tone: (moment) => (isChange(moment) ? 'plain' : TONES[moment.outcome.tone]),
        onPagesOnly: true,
      },
      {
        name: 'detail',
        of: (moment, t) => {
          if (isChange(moment)) return moment.record === 'order' ? null : moment.id
          return moment.detail === null ? null : textsFor(t).reasonExcerpt(moment.detail)
        },
      },
    ],
  },
})

import { action, onTerminal } from '../../platform/lib/action.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { type LineOfAll, listAllTraffic } from './traffic/list-all-partners.ts'
import { showTraffic } from './traffic/show-entry.ts'
import { trafficTexts } from './traffic/texts.ts'

const textsFor = ({ locale }: Translate) => trafficTexts(locale, 'operator')

/** Which way it went, and what it is. */
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

/** One of the two messages of a call. */
const messageAs = (name: string) =>
  onTerminal<Message>([
    { name: 'address', of: ({ method, url }) => url && `${method} ${url}` },
    { name: 'http', of: ({ status }) => status },
    { name, of: messageText },
  ])

const TONES = { good: 'good', bad: 'bad', warning: 'warn' } as const

/** What operators see of calls and notices of all partners. Bodies are whole with a reason only. */
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
        { name: 'detail', of: ({ detail }, t) => (detail === null ? null : textsFor(t).reasonBegins(detail)) },
      ],
    },
  }),
  action({
    route: 'GET /traffic/:id',
    command: 'traffic show',
    role: 'viewer',
    page: { path: '/traffic/:partner_id/:kind/:id', about: ['partner_id', 'kind', 'id'] },
    elevated: { role: 'support', fields: ['reason'], what: 'unmasked personal data' },
    recordsLook: true,
    run: showTraffic,
    parts: { failure: onTerminal<Failure>(['detail']), request: messageAs('sent'), response: messageAs('answered') },
  }),
]

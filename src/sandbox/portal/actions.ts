import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { action, type Column, onTerminal } from '../../platform/lib/action.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import type { NoticeDeps } from '../../ticketing/mtp/index.ts'
import { oneOrder, showOrder } from '../../ticketing/orders/index.ts'
import { onePartner, showPartner } from '../../ticketing/partners/index.ts'
import { listRuns, progressOfRun, type RunProgress, showRun } from '../certification/index.ts'
import { stepName } from './texts.ts'
import { type LineOfAll, listAllTraffic, maskedLine } from './traffic/list.ts'
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
          tone: ({ outcome }) => outcome.tone,
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

const momentOf = (moment: Moment): OneMoment => {
  if (moment.kind === 'call') return maskedLine(moment.line)
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
    return { timeline: moments.map(momentOf), is_cut: isCut }
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
        tone: (moment) => (isChange(moment) ? 'plain' : moment.outcome.tone),
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

const runLine = ({ run, state, passed, steps }: RunProgress) => {
  const { run_id, number, created_at, passed_at } = run
  return { run_id, number, state, passed, steps_total: steps, created_at, passed_at }
}

const RUN_TONES = {
  under_way: 'plain',
  all_passed: 'good',
  accepted: 'good',
  replaced: 'warning',
  passed: 'good',
  failed: 'bad',
  not_tested: 'warning',
  interrupted: 'warning',
  running: 'plain',
  open: 'plain',
} as const

/** The state of a run or step. */
const STATE: Column<{ readonly state: keyof typeof RUN_TONES }> = {
  name: 'state',
  of: ({ state }, t) => t(`console.runs.${state}`),
  tone: ({ state }) => RUN_TONES[state],
}

/** A partner's test runs, as its people see them in the sandbox but without the log. */
export const RUN_ACTIONS = [
  action({
    route: 'GET /partners/:partner_id/runs',
    command: 'partner runs',
    role: 'viewer',
    input: onePartner,
    run: async (deps: Deps, { partner_id }) => {
      await showPartner(deps, partner_id)
      return { runs: (await listRuns(deps, partner_id)).map(runLine) }
    },
    list: {
      rows: 'runs',
      onRecord: true,
      columns: [
        { name: 'number', of: ({ number }, t) => t('console.runs.one', { number: String(number) }) },
        STATE,
        { name: 'steps', of: ({ passed, steps_total }) => `${passed} / ${steps_total}` },
        'created_at',
        'passed_at',
        ...onTerminal(['run_id']),
      ],
    },
  }),
  action({
    route: 'GET /partners/:partner_id/runs/:run_id',
    command: 'partner run',
    arguments: ['partner_id', 'run_id'],
    role: 'viewer',
    input: onePartner.extend({ run_id: z.guid() }),
    run: async (deps: Deps, { partner_id, run_id }) => {
      const view = await showRun(deps, partner_id, run_id)
      const { number, state, created_at, passed_at } = runLine(progressOfRun(view))
      return {
        run: { partner_id, run_id, number, state, created_at, passed_at },
        steps: view.steps.map(({ step, state, running, attempts }) => ({
          ...{ step_id: step.id, state: running ? 'running' : state, attempts: attempts.length },
          last_attempt: attempts.at(-1)?.started_at ?? null,
        })),
      }
    },
    called: ({ run }) => run.number,
    parts: {
      run: ['partner_id', ...onTerminal(['run_id', 'number']), STATE, 'created_at', 'passed_at'],
      steps: [
        { name: 'step', of: ({ step_id }: { step_id: string }, t) => stepName(step_id, t), onPagesOnly: true },
        ...['step_id', STATE, 'attempts', 'last_attempt'],
      ],
    },
  }),
]

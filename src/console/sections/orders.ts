import { parseInput } from '../../lib/json/input.ts'
import type { Detail } from '../../lib/localized-text.ts'
import { maskedReason } from '../../lib/masked-reason.ts'
import { listOrders, maskedStory, ORDER_STATES, oneOrder, queryOrder, showOrder } from '../../orders/index.ts'
import { BY_CONSOLE } from '../../partner-calls/index.ts'
import { timelineOf, trafficTexts } from '../../sandbox/index.ts'
import { partnerLink, trafficLink } from '../explained.ts'
import type { Action, Cell, PageContext, Section, Table } from '../page-model.ts'
import { mayDo, PERSONAL_DATA } from '../permissions.ts'
import { at, code, count, link, orDash, stateCell, text, time } from '../texts.ts'
import { outcomeCell, wayOf } from './traffic-entry.ts'

const pageOf = (id: bigint, ...more: string[]): string => at('orders', String(id), ...more)

const readPage = async ({ deps, t, fields }: PageContext) => {
  const { orders, next } = await listOrders(deps, parseInput(listOrders.input, fields))
  return {
    table: {
      head: [
        'orderId',
        t('console.field.partner_order_id'),
        'PartnerId',
        t('console.field.state'),
        t('console.field.quantities'),
        t('console.field.price'),
        t('console.field.created'),
      ],
      rows: orders.map((order) => [
        link(String(order.order_id), pageOf(order.order_id)),
        orDash(order.partner_order_id),
        partnerLink(order.partner_id),
        text(order.sandbox ? t('console.orders.of_sandbox', { state: order.state }) : order.state),
        text(`${order.quantity} / ${order.used_quantity} / ${order.refunded_quantity}`),
        text(order.total_price.toFixed(2)),
        time(order.created_at),
      ]),
      none: t('console.orders.none'),
    },
    next,
  }
}

const idOf = ({ params }: PageContext): bigint => parseInput(oneOrder, { order_id: params.order_id }).order_id

/** Whether this operator sees codes of tickets, and what partners wrote. */
const seesPeople = ({ role }: PageContext): boolean => mayDo(role, PERSONAL_DATA)

const storyFor = async (context: PageContext) => {
  const story = await showOrder(context.deps, idOf(context))
  return seesPeople(context) ? story : maskedStory(story)
}

const fact = (name: string, ...cells: Cell[]) => ({ name, cells })

async function readOne(context: PageContext) {
  const [{ t }, texts] = [context, trafficTexts(context.locale)]
  const said = (detail: Detail | null) => detail && texts.reason(detail)
  const { order } = await storyFor(context)
  return {
    title: t('console.orders.one', { order: String(order.order_id) }),
    facts: [
      fact(t('console.field.partner_order_id'), orDash(order.partner_order_id)),
      fact('PartnerId', partnerLink(order.partner_id)),
      fact('partnerDealId', code(order.partner_deal_id)),
      fact(t('console.field.state'), code(order.state), time(order.state_since)),
      fact(
        t('console.field.quantities'),
        text(`${order.quantity} / ${order.used_quantity} / ${order.refunded_quantity}`),
      ),
      ...(order.contradiction
        ? [fact(t('console.orders.contradiction'), text(texts.reasonBegins(order.contradiction)))]
        : []),
      fact(t('console.field.price'), text(order.total_price.toFixed(2))),
      fact(t('console.field.travel_date'), orDash(order.travel_date)),
      fact(t('console.field.last_code'), orDash(order.last_code), orDash(said(order.last_describe))),
      fact(t('console.field.created'), time(order.created_at)),
      ...(order.data_removed_at
        ? [fact(t('console.orders.visitors'), text(t('console.orders.visitors_removed')), time(order.data_removed_at))]
        : []),
    ],
    tables: [
      await timeline(context, order.partner_id, order.order_id),
      {
        title: t('console.orders.tickets'),
        head: [t('console.field.ticket'), t('console.field.state'), t('console.field.quantities')],
        rows: order.vouchers.map((one) => [
          code(one.voucher),
          text(one.state),
          text(`${one.quantity} / ${one.used_quantity} / ${one.refunded_quantity}`),
        ]),
        none: t('console.orders.no_tickets'),
      },
      {
        title: t('console.orders.refunds'),
        head: ['refundId', t('console.field.state'), t('console.field.quantity'), t('console.field.reason')],
        rows: order.refunds.map((one) => [
          code(one.refund_id),
          text(one.state),
          text(String(one.refund_quantity)),
          orDash(said(one.reason)),
        ]),
        none: t('console.orders.no_refunds'),
      },
    ],
    actions: [
      {
        operation: 'POST /orders/:order_id/query',
        href: pageOf(order.order_id, 'query'),
        text: t('console.orders.query'),
      },
    ],
  }
}

/** Every call in either direction, every notice and every state that the order or a refund came to, oldest first. */
async function timeline(context: PageContext, partnerId: bigint, orderId: bigint): Promise<Table> {
  const { deps, t, locale } = context
  const { moments, isCut } = await timelineOf(deps, partnerId, orderId)
  const texts = trafficTexts(locale)
  return {
    title: t('console.orders.timeline'),
    head: [t('console.field.at'), t('console.field.what'), t('console.field.outcome'), t('console.field.detail')],
    rows: moments.map((moment): Cell[] => {
      if (moment.kind === 'state') {
        const what = moment.record === 'order' ? t('console.orders.order_moved') : t('console.orders.refund_moved')
        const moved = `${moment.from ?? '–'} → ${moment.to}`
        return [time(moment.at), text(what), code(moved), text(moment.record === 'order' ? '' : moment.id)]
      }
      const { line } = moment
      const outcome = outcomeCell(line.outcome, context)
      const codeText = line.code === null ? '' : ` · code ${line.code}`
      return [
        time(moment.at),
        link(`${wayOf(line.direction, context)}${texts.name(line.name)}`, trafficLink(partnerId, line.kind, line.id)),
        { ...outcome, text: `${outcome.text}${codeText}` },
        text(texts.reasonBegins(seesPeople(context) ? (line.detail ?? '') : maskedReason(line.detail ?? ''))),
      ]
    }),
    none: t('console.orders.nothing_yet'),
    ...(isCut ? { note: t('console.orders.cut', { most: count(moments.length) }) } : {}),
  }
}

const query: Action = {
  path: '/orders/:order_id/query',
  operation: 'POST /orders/:order_id/query',
  title: 'console.orders.query',
  confirm: async (context) => {
    const { order } = await showOrder(context.deps, idOf(context))
    return { says: [context.t('console.orders.query_says', { state: order.state })], back: pageOf(order.order_id) }
  },
  run: async (context) => {
    const { failure } = await queryOrder(context.deps, idOf(context), BY_CONSOLE)
    if (!failure) return undefined
    return {
      note: context.t('console.orders.query_failed'),
      values: [
        { name: context.t('console.field.detail'), cells: [text(trafficTexts(context.locale).reason(failure.detail))] },
      ],
    }
  },
}

export const orders: Section = {
  id: 'orders',
  title: 'console.orders.title',
  operation: 'GET /orders',
  lists: [
    {
      path: '/orders',
      operation: 'GET /orders',
      title: 'console.orders.title',
      lead: 'console.orders.lead',
      filters: ({ t }) => [
        { name: 'partner_id', label: 'PartnerId', kind: 'text', most: 19 },
        { name: 'partner_order_id', label: t('console.field.partner_order_id_begins'), kind: 'text', most: 255 },
        {
          name: 'state',
          label: t('console.field.state'),
          kind: 'choice',
          choices: Object.keys(ORDER_STATES).map((state) => [state, state] as const),
        },
        {
          name: 'sandbox',
          label: t('console.field.kind'),
          kind: 'choice',
          choices: [
            ['false', stateCell('live', t).text],
            ['true', stateCell('sandbox', t).text],
          ],
        },
        { name: 'from', label: t('console.field.from'), kind: 'date' },
        { name: 'to', label: t('console.field.to'), kind: 'date' },
      ],
      read: readPage,
    },
  ],
  details: [{ path: '/orders/:order_id', operation: 'GET /orders/:order_id', read: readOne }],
  actions: [query],
}

import type { Command } from 'commander'
import { z } from 'zod'
import type { ServiceDeps } from '../jobs/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import {
  closeOrder,
  createOrder,
  listOrders,
  oneOrder,
  payOrder,
  queryOrder,
  refundByPlatform,
  refundOrder,
  showOrder,
} from '../orders/index.ts'
import { BY_COMMAND, type CallCause } from '../partner-calls/index.ts'
import type { CliContext } from './context.ts'
import { defineListCommand } from './list.ts'
import { defineCommand } from './operation.ts'
import { answerText, orderTable, storyText } from './order-text.ts'
import { collect, numberIfOne, withPeriod } from './text.ts'

type OrderResult = OutputOf<typeof createOrder>

const NAMED = { order_id: 'order_id' }
const LISTS = { level_ids: '--level-id', vouchers: '--voucher' }

/** `gatehouse order …`: as over /admin/v1/orders. */
export function orderCommands(program: Command, context: CliContext): void {
  const order = program.command('order').description('orders at partners: what was sent and how they responded')
  createCommand(order, context)
  step(order, context, 'pay', 'pay an order, so that the partner issues its tickets', payOrder)
  step(order, context, 'query', 'query an order at the partner', queryOrder)
  refundCommand(order, context)
  refundedCommand(order, context)
  step(order, context, 'close', 'close an order that was not paid', closeOrder)
  defineCommand(withKeyArgument(order, 'show', 'an order with its history and its calls'), context, {
    input: oneOrder,
    inputFrom: (_, order_id) => ({ order_id }),
    run: (deps, { order_id }) => showOrder(deps, order_id),
    text: storyText,
    flags: NAMED,
  })
  listCommand(order, context)
}

// In brackets for commander, so that a missing id is reported together with all other problems.
const withKeyArgument = (order: Command, name: string, description: string): Command =>
  order.command(name).description(description).argument('[order_id]').usage('<order_id> [options]')

/** The exit code tells scripts that the call failed; the order is as shown. */
const exitCode =
  ({ terminal }: CliContext) =>
  ({ failure }: OrderResult): void => {
    if (failure) terminal.exitCode = 1
  }

function step(
  order: Command,
  context: CliContext,
  name: string,
  description: string,
  run: (deps: ServiceDeps, orderId: bigint, cause: CallCause) => Promise<OrderResult>,
): void {
  defineCommand(withKeyArgument(order, name, description), context, {
    input: oneOrder,
    inputFrom: (_, order_id) => ({ order_id }),
    run: (deps, { order_id }) => run(deps, order_id, BY_COMMAND),
    after: exitCode(context),
    text: answerText,
    flags: NAMED,
  })
}

/** JSON if it can be parsed; otherwise the schema reports what is wrong with the text. */
const parseJsonOrText = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function createCommand(order: Command, context: CliContext): void {
  const command = order
    .command('create')
    .description('create an order at a partner; prices are those of the pulled product unless given')
    .option('--partner-id <id>', 'the partner')
    .option('--partner-deal-id <id>', "the partner's product")
    .option('--order-id <id>', 'using an id again repeats the same order (default: a new id)')
    .option('--quantity <number>', 'tickets (default: 1)', numberIfOne)
    .option('--travel-date <date>', 'yyyy-MM-dd; none for open-date tickets')
    .option('--unit-price <yuan>', 'price per ticket that the customer pays')
    .option('--buy-price <yuan>', 'price per ticket that the partner gets')
    .option('--total-price <yuan>', 'default: unit price × quantity')
    .option('--mt-deal-id <id>', "the platform's id of the product")
    .option('--visitors <json>', 'list of visitors, such as [{"name":"…","mobile":"…"}]', parseJsonOrText)
    .option('--contact-person <json>', 'same fields as a visitor', parseJsonOrText)
    .option('--partner-primary-key <key>', 'of a level price calendar')
    .option('--level-id <id>', 'of a level price calendar (repeat for more)', collect)
  defineCommand(command, context, {
    input: createOrder.input,
    inputFrom: (options) => ({
      partner_id: options.partnerId,
      partner_deal_id: options.partnerDealId,
      order_id: options.orderId,
      quantity: options.quantity,
      travel_date: options.travelDate,
      unit_price: options.unitPrice,
      buy_price: options.buyPrice,
      total_price: options.totalPrice,
      mt_deal_id: options.mtDealId,
      visitors: options.visitors,
      contact_person: options.contactPerson,
      partner_primary_key: options.partnerPrimaryKey,
      level_ids: options.levelId,
    }),
    run: (deps, input) => createOrder(deps, input, BY_COMMAND),
    after: exitCode(context),
    text: answerText,
    flags: LISTS,
  })
}

const ticketOptions = (command: Command): Command =>
  command
    .option('--refund-id <id>', 'using an id again repeats the same refund (default: a new id)')
    .option('--quantity <number>', 'tickets (default: all that are left, or those of the vouchers)', numberIfOne)
    .option('--voucher <code>', 'a voucher to refund (repeat for more)', collect)
    .option('--refund-price <yuan>', 'what the customer gets back (default: unit price × quantity)')
    .option('--partly', 'refund a part even if the product has no partial refunds')

const ticketsOf = (options: Readonly<Record<string, unknown>>, order_id: string | undefined) => ({
  order_id,
  refund_id: options.refundId,
  quantity: options.quantity,
  vouchers: options.voucher,
  refund_price: options.refundPrice,
  partly: options.partly,
})

function refundCommand(order: Command, context: CliContext): void {
  const command = ticketOptions(withKeyArgument(order, 'refund', 'ask the partner to refund tickets'))
  defineCommand(command.option('--refund-fee <yuan>', 'refund fee that is kept (default: 0)'), context, {
    input: refundOrder.input,
    inputFrom: (options, order_id) => ({ ...ticketsOf(options, order_id), refund_fee: options.refundFee }),
    run: (deps, input) => refundOrder(deps, input, BY_COMMAND),
    after: exitCode(context),
    text: answerText,
    flags: { ...NAMED, ...LISTS },
  })
}

function refundedCommand(order: Command, context: CliContext): void {
  const command = ticketOptions(
    withKeyArgument(order, 'refunded', 'refund tickets on the platform and notify the partner'),
  )
    .option('--type <number>', '1 by customer service, 2 payment never confirmed, 3 review timed out', numberIfOne)
    .option('--reason <text>', 'for the partner')
  defineCommand(command, context, {
    input: refundByPlatform.input,
    inputFrom: (options, order_id) => ({
      ...ticketsOf(options, order_id),
      ...{ type: options.type, reason: options.reason },
    }),
    run: (deps, input) => refundByPlatform(deps, input, BY_COMMAND),
    after: exitCode(context),
    text: answerText,
    flags: { ...NAMED, ...LISTS },
  })
}

const listFilter = listOrders.input
  .extend({ live: z.boolean().optional() })
  .refine(({ live, sandbox }) => !(live && sandbox), { path: ['live'], error: 'or --sandbox, not both' })

function listCommand(order: Command, context: CliContext): void {
  const command = order
    .command('list')
    .description('orders, newest first')
    .option('--partner-id <id>', 'only orders of this partner')
    .option('--state <state>', 'only orders in this state')
    .option('--live', 'only orders of customers')
    .option('--sandbox', 'only orders of test runs')
    .option('--partner-order-id <beginning>', "only those whose partner's own id begins with this")
  defineListCommand(withPeriod(command, 'made '), context, {
    plural: 'orders',
    usual: 50,
    input: listFilter,
    inputFrom: ({ partnerId, partnerOrderId, ...options }) => {
      const { state, live, sandbox, from, to } = options
      return { partner_id: partnerId, partner_order_id: partnerOrderId, state, live, sandbox, from, to }
    },
    route: ({ live, ...fields }) => ({ route: 'GET /orders', fields: live ? { ...fields, sandbox: false } : fields }),
    page: (deps, { live, ...filter }) => listOrders(deps, live ? { ...filter, sandbox: false } : filter),
    table: orderTable,
  })
}

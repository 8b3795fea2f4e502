import type { OutputOf } from '../platform/lib/json/input.ts'
import { jsonIn } from '../platform/lib/json/lossless.ts'
import type { Detail } from '../platform/lib/localized-text.ts'
import { parsedUrl } from '../platform/lib/parsed-url.ts'
import { addDays, beijingDate, utcTime } from '../platform/lib/time-zone.ts'
import { RefusedRequest } from '../platform/lib/web/rescode.ts'
import { pullCatalogue, pullPrices } from '../ticketing/catalogue/index.ts'
import { createOrder, payOrder, queryOrder, refundOrder, showOrder } from '../ticketing/orders/index.ts'
import { BY_COMMAND, type CallDeps, type CallRecord } from '../ticketing/partner-calls/index.ts'
import { findPartner } from '../ticketing/partners/index.ts'
import { type AtPartner, partnerControls, type SentNotice } from './sandbox-part.ts'
import { DEMO_PARTNER } from './seed.ts'

/** The fields that are shown, in this order. */
const SHOWN = [
  ...['method', 'currentPage', 'pageSize', 'totalSize', 'partnerDealId', 'date', 'startTime', 'travelDate'],
  ...['settlementPrice', 'mtPrice', 'stock'],
  ...['orderId', 'partnerOrderId', 'refundId', 'orderStatus', 'quantity', 'usedQuantity', 'refundedQuantity'],
  ...['buyPrice', 'unitPrice', 'totalPrice', 'refundQuantity', 'refundPrice', 'vouchers'],
]
const NAMES = { platform: 'Gatehouse', partner: 'Partner' } as const
const INDENT = 2 + NAMES.platform.length + 2

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

/** The important fields of a body; of a list with several entries, their number and ids. */
function gist(body: unknown): string {
  if (Array.isArray(body)) {
    const ids = [...new Set(body.flatMap((entry: unknown) => (isObject(entry) ? (entry.partnerDealId ?? []) : [])))]
    return body.length === 1 ? gist(body[0]) : `${body.length} entries: ${ids.join(', ')}`
  }
  if (!isObject(body)) return ''
  const fields = SHOWN.map((name) => [name, String(body[name] ?? '').replaceAll(',', ', ')])
  return fields.flatMap(([name, value]) => (value === '' ? [] : [`${name} ${value}`])).join(' · ')
}

function read(text: string | null): Json {
  const json = jsonIn(text)
  return isObject(json) ? json : {}
}

const codeOf = ({ code, describe }: Json): string => (code === undefined ? '' : `${code} ${describe}`)

/** Speaker and message, with details on lines of their own. */
const lines = (speaker: string, words: string, details: readonly string[]): string[] => [
  `  ${speaker.padEnd(INDENT - 2)}${words}`,
  ...details.filter((detail) => detail !== '').map((detail) => ' '.repeat(INDENT) + detail),
]

function callLines({ url, request_body, response_body, failure_detail }: CallRecord): string[] {
  const [question, reply] = [read(request_body), read(response_body)]
  return [
    ...lines(NAMES.platform, `POST ${parsedUrl(url)?.pathname ?? url}`, [gist(question.body)]),
    ...lines(NAMES.partner, codeOf(reply) || `(${failure_detail ?? 'no response'})`, [gist(reply), gist(reply.body)]),
  ]
}

/** A notice of the partner, and the platform's response. */
const noticeLines = ({ path, message, lastAnswer }: SentNotice): string[] => [
  ...lines(NAMES.partner, `POST ${path}`, [gist(message.body), codeOf(message)]),
  ...lines(NAMES.platform, lastAnswer.replace(/^(\d+): /, '$1 '), []),
]

/** Every change of an order, its vouchers and refunds: when, why and which fields. */
const historyLines = (history: OutputOf<typeof showOrder>['history']): string[] =>
  history.map(({ at, cause, record, record_id, change }) => {
    const fields = Object.entries(change).map(([name, [before, after]]) =>
      before === null ? `${name} ${after}` : `${name} ${before} → ${after}`,
    )
    const subject = record === 'order' ? record : `${record} ${record_id}`
    return `  ${utcTime(at.toISOString())}  ${cause.padEnd(8)}  ${subject}: ${fields.join(', ')}`
  })

/** What the conversation needs: the dependencies of operations, an output, and a way to wait. */
interface DemoConsole {
  readonly deps: CallDeps
  say(line: string): void
  wait(seconds: number): Promise<unknown>
}

/** A conversation: each step prints a title, then the calls and notices that were sent. */
interface DemoScript extends DemoConsole {
  step<Result>(title: string, act: () => Promise<Result>): Promise<Result>
  readonly atPartner: AtPartner
}

const { partnerId: partner_id } = DEMO_PARTNER

/** Two orders from the first call to the last notice, printed as a conversation with the running demo partner. */
export async function orderTalk(demoConsole: DemoConsole): Promise<void> {
  const print = (lines: readonly string[]) => lines.forEach(demoConsole.say)
  const deps: CallDeps = {
    ...demoConsole.deps,
    calls: { ...demoConsole.deps.calls, onCall: (call) => print(callLines(call)) },
  }
  const partner = await findPartner(deps, partner_id)
  const control = await partnerControls(partner?.base_url)
  const script: DemoScript = {
    ...demoConsole,
    deps,
    step: (title, act) => {
      print([`\n${title}`])
      return act()
    },
    atPartner: async (action, input) => {
      const notices = await control(action, input)
      print(notices.flatMap(noticeLines))
      return notices
    },
  }
  await script.step('The platform asks for the catalogue.', async () =>
    done(await pullCatalogue(deps, { partner_id }, BY_COMMAND)),
  )
  const used = await usedOrder(script)
  const refunded = await refundedOrder(script)
  for (const orderId of [used, refunded]) await printHistory(script, orderId)
}

/** An order that is issued at once, and whose visitors both come. */
async function usedOrder(script: DemoScript): Promise<bigint> {
  const { deps, step, atPartner } = script
  const order = await buy(script, 'DEMO-BOAT')
  const order_id = order.order_id
  await step('The platform queries the order.', async () => done(await queryOrder(deps, order_id, BY_COMMAND)))
  await step('A visitor comes to the gate.', () => atPartner('consume', { orderId: order_id, quantity: 1 }))
  await step('The second visitor follows.', () => atPartner('consume', { orderId: order_id, quantity: 1 }))
  return order_id
}

/** An order that is issued after a while, and refunded after a review. */
async function refundedOrder(script: DemoScript): Promise<bigint> {
  const { deps, step, atPartner } = script
  const { order_id } = await buy(script, 'DEMO-TOWER')
  await step('Issuing the tickets takes a few seconds; the platform queries the order until they are there.', () =>
    untilIssued(script, order_id),
  )
  const { refund } = await step('The customer requests a refund. This partner reviews each refund.', async () =>
    done(await refundOrder(deps, refundOrder.input.parse({ order_id }), BY_COMMAND)),
  )
  await step('The partner approves it.', () =>
    atPartner('decide-refund', { refundId: refund.refund_id, approve: true }),
  )
  return order_id
}

/** Buys two tickets for tomorrow. */
async function buy(
  { deps, step }: DemoScript,
  partner_deal_id: string,
): Promise<OutputOf<typeof createOrder>['order']> {
  const travel_date = addDays(beijingDate(deps.clock.now()), 1)
  const range = { partner_id, partner_deal_id, from: travel_date, to: travel_date }
  const input = createOrder.input.parse({ partner_id, partner_deal_id, travel_date, quantity: 2 })
  await step(`The platform asks for the price of ${partner_deal_id} tomorrow.`, async () =>
    done(await pullPrices(deps, range, { cause: BY_COMMAND })),
  )
  const { order } = await step('A customer orders two tickets.', async () =>
    done(await createOrder(deps, input, BY_COMMAND)),
  )
  await step('The customer has paid.', async () => done(await payOrder(deps, order.order_id, BY_COMMAND)))
  return order
}

const MAX_QUERIES = 20

async function untilIssued({ deps, wait }: DemoScript, orderId: bigint): Promise<void> {
  for (let query = 0; query < MAX_QUERIES; query++) {
    await wait(1)
    // Refused while the service queries the order itself.
    const answer = await queryOrder(deps, orderId, BY_COMMAND).catch((error: unknown) => {
      if (error instanceof RefusedRequest) return undefined
      throw error
    })
    if (answer?.order.state === 'paid') return
  }
  throw new Error('the partner does not issue the tickets')
}

async function printHistory({ deps, say }: DemoScript, orderId: bigint): Promise<void> {
  const { order, history } = await showOrder(deps, orderId)
  say(
    `\nOrder ${orderId} is ${order.state}: ${order.used_quantity} used, ${order.refunded_quantity} refunded. Its history:`,
  )
  for (const line of historyLines(history)) say(line)
}

/** Returns the answer; throws if the call failed. */
function done<Answer extends { readonly failure: { readonly detail: Detail } | null }>(answer: Answer): Answer {
  if (answer.failure) throw new Error(`the partner's response: ${answer.failure.detail}`)
  return answer
}

import { pullCatalogue, pullPrices } from '../catalogue/index.ts'
import type { Deps } from '../deps.ts'
import { OPERATOR } from '../history/index.ts'
import type { OutputOf } from '../lib/json/input.ts'
import { addDays, beijingDate } from '../lib/time-zone.ts'
import { RefusedRequest } from '../lib/web/rescode.ts'
import { createOrder, payOrder, queryOrder, refundOrder, showOrder } from '../orders/index.ts'
import { findPartner } from '../partners/index.ts'
import { type AtPartner, partnerControls } from './sandbox-part.ts'
import { DEMO_PARTNER } from './seed.ts'
import { historyLines, openTranscript } from './transcript.ts'

/** What the conversation needs: the operations' dependencies, an output, and a way to wait. */
export interface Stage {
  readonly deps: Deps
  say(line: string): void
  wait(seconds: number): Promise<unknown>
}

/** One conversation: every step has a title, followed by the calls that were made. */
interface Talk extends Stage {
  step<Result>(title: string, act: () => Promise<Result>): Promise<Result>
  readonly atPartner: AtPartner
}

const { partnerId: partner_id } = DEMO_PARTNER

/** Two orders from the first call to the last notice, shown as a conversation with the running demo partner. */
export async function orderTalk(stage: Stage): Promise<void> {
  const { deps, say } = stage
  const partner = await findPartner(deps, partner_id)
  const atPartner = await partnerControls(partner?.base_url)
  const tell = openTranscript(deps, partner_id, say)
  const talk: Talk = {
    ...stage,
    atPartner,
    step: (title, act) => {
      say(`\n${title}`)
      return act().finally(tell)
    },
  }
  await talk.step('The platform asks for the catalogue.', async () => done(await pullCatalogue(deps, { partner_id })))
  const used = await usedOrder(talk)
  const refunded = await refundedOrder(talk)
  for (const orderId of [used, refunded]) await tellHistory(stage, orderId)
}

/** Bought, issued at once, and both visitors come. */
async function usedOrder(talk: Talk): Promise<bigint> {
  const { deps, step, atPartner } = talk
  const order = await bought(talk, 'DEMO-BOAT')
  const order_id = order.order_id
  await step('The platform queries the order.', async () => done(await queryOrder(deps, order_id, OPERATOR)))
  await step('A visitor comes to the gate.', () => atPartner('consume', { orderId: order_id, quantity: 1 }))
  await step('The second visitor follows.', () => atPartner('consume', { orderId: order_id, quantity: 1 }))
  return order_id
}

/** Bought, issued after a while, and refunded after a review. */
async function refundedOrder(talk: Talk): Promise<bigint> {
  const { deps, step, atPartner } = talk
  const { order_id } = await bought(talk, 'DEMO-TOWER')
  await step('Issuing the tickets takes a few seconds; the platform queries the order until they are there.', () =>
    issued(talk, order_id),
  )
  const { refund } = await step('The customer requests a refund. This partner reviews each refund.', async () =>
    done(await refundOrder(deps, refundOrder.input.parse({ order_id }), OPERATOR)),
  )
  await step('The partner approves it.', () =>
    atPartner('decide-refund', { refundId: refund.refund_id, approve: true }),
  )
  return order_id
}

/** Two tickets for tomorrow, created and paid. */
async function bought({ deps, step }: Talk, partner_deal_id: string): Promise<OutputOf<typeof createOrder>['order']> {
  const travel_date = addDays(beijingDate(deps.clock.now()), 1)
  const range = { partner_id, partner_deal_id, from: travel_date, to: travel_date }
  const input = createOrder.input.parse({ partner_id, partner_deal_id, travel_date, quantity: 2 })
  await step(`The platform asks for the price of ${partner_deal_id} tomorrow.`, async () =>
    done(await pullPrices(deps, range)),
  )
  const { order } = await step('A customer orders two tickets.', async () =>
    done(await createOrder(deps, input, OPERATOR)),
  )
  await step('The customer has paid.', async () => done(await payOrder(deps, order.order_id, OPERATOR)))
  return order
}

const MOST_QUESTIONS = 20

async function issued({ deps, wait }: Talk, orderId: bigint): Promise<void> {
  for (let question = 0; question < MOST_QUESTIONS; question++) {
    await wait(1)
    // Refused while the service itself is querying.
    const answer = await queryOrder(deps, orderId, OPERATOR).catch((error: unknown) => {
      if (error instanceof RefusedRequest) return undefined
      throw error
    })
    if (answer?.order.state === 'paid') return
  }
  throw new Error('the partner does not issue the tickets')
}

async function tellHistory({ deps, say }: Stage, orderId: bigint): Promise<void> {
  const { order, history } = await showOrder(deps, orderId)
  say(
    `\nOrder ${orderId} is ${order.state}: ${order.used_quantity} used, ${order.refunded_quantity} refunded. Its history:`,
  )
  for (const line of historyLines(history)) say(line)
}

/** What was answered, unless the call failed. */
function done<Answer extends { readonly failure: { readonly detail: string } | null }>(answer: Answer): Answer {
  if (answer.failure) throw new Error(`the partner's response: ${answer.failure.detail}`)
  return answer
}

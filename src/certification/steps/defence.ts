import type { InterfaceName } from '../../interfaces/index.ts'
import { newOrderId } from '../../orders/create-order.ts'
import { type AnswerOf, type CallOptions, FORGED_DATE_AGE_S, type Forgery } from '../../partner-calls/call-partner.ts'
import type { CallResult } from '../../partner-calls/call-result.ts'
import { offers } from '../choice.ts'
import type { Expectation } from '../examine.ts'
import type { Codes, Refusal } from '../examine-code.ts'
import type { FunctionId } from '../functions.ts'
import type { Scene } from '../scene.ts'
import { weekOf } from './catalogue.ts'
import type { Step } from './step.ts'

type Options = CallOptions & Expectation

/** A call that changes nothing at the partner, of an interface that belongs to a function. */
interface Reading {
  readonly needs: FunctionId
  /** What a partner rightly answers to it. */
  readonly codes: Codes
  /** Sends the same each time. */
  readonly call: (scene: Scene) => (options: Options) => Promise<CallResult<AnswerOf<InterfaceName>>>
}

/**
 * The first of these that the partner has is called. Order query, which every partner has, is about an order that nobody
 * has, so it comes last: there a refusal can only be told from "no such order" by what is said. Heartbeats do not count,
 * since programs answer them to anybody.
 */
const READINGS: readonly Reading[] = [
  {
    needs: 'product-pull',
    codes: [200],
    call: (scene) => (options) =>
      scene.call('product-pull', { method: 'multi', partnerDealIds: [scene.choice.products.main] }, options),
  },
  {
    needs: 'price-calendar',
    codes: [200],
    call: (scene) => (options) =>
      scene.call('price-calendar', { partnerDealId: scene.choice.products.main, ...weekOf(scene) }, options),
  },
  {
    needs: 'level-price-calendar',
    codes: [200, 999],
    call: (scene) => (options) => {
      const { main, level = main } = scene.choice.products
      return scene.call('level-price-calendar', { partnerDealId: level, ...weekOf(scene), asyncType: 0 }, options)
    },
  },
  {
    needs: 'poi-pull',
    codes: [200],
    call: (scene) => (options) => scene.call('poi-pull', { method: 'page', currentPage: 1, pageSize: 20 }, options),
  },
  {
    needs: 'balance-query',
    codes: [200],
    call: (scene) => (options) =>
      scene.call('balance-query', { partnerDealIds: [scene.choice.products.main] }, options),
  },
  {
    needs: 'order-query',
    codes: 'failure',
    call: (scene) => {
      const order = { orderId: newOrderId(scene.deps.config.ORDER_ID_BITS), partnerOrderId: '' }
      return (options) => scene.call('order-query', order, options)
    },
  },
]

/**
 * A call that is wrong in one way; a partner that answers it verifies nobody. The same call is made rightly before: who
 * refuses that too has not told them apart.
 */
const refuses = (
  forge: Forgery,
  refusal: Pick<Refusal, 'check' | 'accepted'>,
  texts: Pick<Step, 'id' | 'name' | 'todo'>,
): Step => ({
  ...texts,
  kind: 'defence',
  needs: () => true,
  checks: [refusal.check],
  async perform(scene) {
    const reading = READINGS.find(({ needs }) => offers(scene.choice, needs))
    if (!reading) throw new Error('the choice has no function that reads')
    const call = reading.call(scene)
    const right = await call({ codes: reading.codes })
    if (!scene.passed) return
    const honest = right.outcome === 'failed' ? { honest: right.json } : {}
    await call({ forge, refusal: { ...refusal, ...honest } })
  },
})

export const wrongSignature = refuses(
  'signature',
  { check: 'signature-checked', accepted: 'accepted a call whose signature is wrong' },
  {
    id: 'wrong-signature',
    name: 'sandbox.step.wrong_signature.name',
    todo: 'sandbox.step.wrong_signature.todo',
  },
)

export const staleDate = refuses(
  'date',
  { check: 'date-checked', accepted: `accepted a call whose Date is ${FORGED_DATE_AGE_S / 60} minutes old` },
  {
    id: 'stale-date',
    name: 'sandbox.step.stale_date.name',
    todo: 'sandbox.step.stale_date.todo',
  },
)

export const unknownClient = refuses(
  'client',
  { check: 'client-checked', accepted: 'accepted a call whose clientId nobody has' },
  {
    id: 'unknown-client',
    name: 'sandbox.step.unknown_client.name',
    todo: 'sandbox.step.unknown_client.todo',
  },
)

import { type InterfaceName, interfaceNamed } from '../../../ticketing/interfaces/index.ts'
import { newOrderId } from '../../../ticketing/orders/index.ts'
import type { AnswerOf, CallOptions, CallResult, Forgery } from '../../../ticketing/partner-calls/index.ts'
import { type Codes, type Expectation, hasCode, REFUSAL_OF } from '../../checks/index.ts'
import { type FunctionId, offers } from '../../test-plan/index.ts'
import { NothingTested } from '../attempt-log.ts'
import type { StepContext } from '../step-context.ts'
import { weekOf } from './catalogue.ts'
import { defineStep, type Step } from './step.ts'

type Options = Omit<CallOptions, 'cause'> & Expectation

/** A call that changes nothing at the partner, of an interface that belongs to a function. */
interface Reading {
  readonly needs: FunctionId & InterfaceName
  /** The codes of a right answer. */
  readonly codes: Codes
  /** The returned function sends the same body each time. */
  readonly call: (context: StepContext) => (options: Options) => Promise<CallResult<AnswerOf<InterfaceName>>>
}

/**
 * The first of these that the partner offers is called. Order query, which every partner offers, comes last: it asks
 * about an order that does not exist, so only the text of the answer distinguishes a refusal from "no such order".
 * Heartbeats are not used, because programs answer them to anybody.
 */
const READINGS: readonly Reading[] = [
  {
    needs: 'product-pull',
    codes: [200],
    call: (context) => (options) =>
      context.call('product-pull', { method: 'multi', partnerDealIds: [context.choice.products.main] }, options),
  },
  {
    needs: 'price-calendar',
    codes: [200],
    call: (context) => (options) =>
      context.call('price-calendar', { partnerDealId: context.choice.products.main, ...weekOf(context) }, options),
  },
  {
    needs: 'level-price-calendar',
    codes: [200, 999],
    call: (context) => (options) => {
      const { main, level = main } = context.choice.products
      return context.call('level-price-calendar', { partnerDealId: level, ...weekOf(context), asyncType: 0 }, options)
    },
  },
  {
    needs: 'poi-pull',
    codes: [200],
    call: (context) => (options) => context.call('poi-pull', { method: 'page', currentPage: 1, pageSize: 20 }, options),
  },
  {
    needs: 'balance-query',
    codes: [200],
    call: (context) => (options) =>
      context.call('balance-query', { partnerDealIds: [context.choice.products.main] }, options),
  },
  {
    needs: 'order-query',
    codes: 'failure',
    call: (context) => {
      const order = { orderId: newOrderId(context.deps.config.ORDER_ID_BITS), partnerOrderId: '' }
      return (options) => context.call('order-query', order, options)
    },
  },
]

/**
 * Makes a call that is wrong in one way and has to be refused. The same call is made correctly before it: a partner that
 * refuses both has not told them apart. Nothing is tested where the correct one has no right code; what else is wrong with
 * its answer is a warning here, as the step of its interface is about that.
 */
const refuses = (forge: Forgery, id: Step['id']): Step =>
  defineStep({
    id,
    kind: 'defence',
    needs: [],
    expects: REFUSAL_OF[forge].expects,
    async perform(context) {
      const reading = READINGS.find(({ needs }) => offers(context.choice, needs))
      if (!reading) throw new Error('no chosen function only reads')
      const call = reading.call(context)
      const right = await call({ codes: reading.codes, advisory: true })
      const answered = right.outcome === 'pending' ? { code: right.code } : right.json
      const definition = interfaceNamed(reading.needs)
      if (!definition || !hasCode(definition, answered, reading.codes)) throw new NothingTested()
      const honest = right.outcome === 'failed' ? { honest: right.json } : {}
      await call({ forge, refusal: { ...REFUSAL_OF[forge].refusal, ...honest } })
    },
  })

export const wrongSignature = refuses('signature', 'wrong-signature')
export const staleDate = refuses('date', 'stale-date')
export const unknownClient = refuses('client', 'unknown-client')

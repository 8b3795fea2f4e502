import type { InterfaceName } from '../../interfaces/index.ts'
import { said } from '../../lib/said.ts'
import { newOrderId } from '../../orders/index.ts'
import {
  type AnswerOf,
  type CallOptions,
  type CallResult,
  FORGED_DATE_AGE_S,
  type Forgery,
} from '../../partner-calls/index.ts'
import type { Level } from '../checks.ts'
import { offers } from '../choice.ts'
import type { Expectation } from '../examine.ts'
import type { Codes, Refusal } from '../examine-code.ts'
import type { FunctionId } from '../functions.ts'
import type { StepContext } from '../step-context.ts'
import { weekOf } from './catalogue.ts'
import type { Step } from './step.ts'

type Options = CallOptions & Expectation

/** A call that changes nothing at the partner, of an interface that belongs to a function. */
interface Reading {
  readonly needs: FunctionId
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
 * refuses both has not told them apart.
 */
const refuses = (
  forge: Forgery,
  { check, accepted, ofSignature = false }: Pick<Refusal, 'check' | 'accepted' | 'ofSignature'>,
  { id, level }: Pick<Step, 'id'> & { readonly level: Level },
): Step => ({
  id,
  kind: 'defence',
  needs: [],
  expects: { [check]: level },
  async perform(context) {
    const reading = READINGS.find(({ needs }) => offers(context.choice, needs))
    if (!reading) throw new Error('no chosen function only reads')
    const call = reading.call(context)
    const right = await call({ codes: reading.codes })
    if (!context.hasPassed()) return
    const honest = right.outcome === 'failed' ? { honest: right.json } : {}
    await call({ forge, refusal: { check, accepted, ofSignature, ...honest } })
  },
})

export const wrongSignature = refuses(
  'signature',
  { check: 'signature-checked', accepted: said('accepted-signature'), ofSignature: true },
  { id: 'wrong-signature', level: 'error' },
)

/** A warning only: no seller's program in the field looks at the age of the Date. */
export const staleDate = refuses(
  'date',
  { check: 'date-checked', accepted: said('accepted-date', { minutes: String(FORGED_DATE_AGE_S / 60) }) },
  { id: 'stale-date', level: 'warning' },
)

export const unknownClient = refuses(
  'client',
  { check: 'client-checked', accepted: said('accepted-client'), ofSignature: true },
  { id: 'unknown-client', level: 'error' },
)

import { type InterfaceName, interfaceNamed } from '../../../ticketing/interfaces/index.ts'
import { newOrderId } from '../../../ticketing/orders/index.ts'
import type { CallOptions, CallResult, Forgery, RequestOf } from '../../../ticketing/partner-calls/index.ts'
import { type Codes, type Expectation, hasCode, REFUSAL_OF } from '../../checks/index.ts'
import { type FunctionId, offers } from '../../test-plan/index.ts'
import { NothingTested } from '../attempt-log.ts'
import type { StepContext } from '../step-context.ts'
import { firstPlacesRequest, levelPricesRequest, pricesRequest } from './catalogue.ts'
import { defineStep, type Step } from './step.ts'

type Options = Omit<CallOptions, 'cause'> & Expectation

/** A call that changes nothing at the partner, of an interface that belongs to a function. */
interface Reading {
  readonly needs: FunctionId & InterfaceName
  /** The codes of a right answer. */
  readonly codes: Codes
  /** The returned function sends the same body each time. */
  readonly call: (context: StepContext) => (options: Options) => Promise<CallResult<unknown>>
}

const reading = <Name extends FunctionId & InterfaceName>(
  needs: Name,
  codes: Codes,
  bodyOf: (context: StepContext) => RequestOf<Name>,
): Reading => ({
  needs,
  codes,
  call: (context) => {
    const body = bodyOf(context)
    return (options) => context.call(needs, body, options)
  },
})

/**
 * The first of these that the partner offers is called. Order query, which every partner offers, comes last: it asks
 * about an order that does not exist, so only the text of the answer distinguishes a refusal from "no such order".
 * Heartbeats are not used, because programs answer them to anybody.
 */
const READINGS: readonly Reading[] = [
  reading('product-pull', [200], ({ choice }) => ({
    method: 'multi' as const,
    partnerDealIds: [choice.products.main],
  })),
  reading('price-calendar', [200], pricesRequest),
  reading('level-price-calendar', [200, 999], levelPricesRequest),
  reading('poi-pull', [200], () => firstPlacesRequest),
  reading('balance-query', [200], ({ choice }) => ({ partnerDealIds: [choice.products.main] })),
  reading('order-query', 'failure', ({ deps: { config } }) => ({
    orderId: newOrderId(config.ORDER_ID_BITS),
    partnerOrderId: '',
  })),
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
      const chosen = READINGS.find(({ needs }) => offers(context.choice, needs))
      if (!chosen) throw new Error('no chosen function only reads')
      const call = chosen.call(context)
      const right = await call({ codes: chosen.codes, advisory: true })
      const answered = right.outcome === 'pending' ? { code: right.code } : right.json
      const definition = interfaceNamed(chosen.needs)
      if (!definition || !hasCode(definition, answered, chosen.codes)) throw new NothingTested()
      const honest = right.outcome === 'failed' ? { honest: right.json } : {}
      await call({ forge, refusal: { ...REFUSAL_OF[forge].refusal, ...honest } })
    },
  })

export const wrongSignature = refuses('signature', 'wrong-signature')
export const staleDate = refuses('date', 'stale-date')
export const unknownClient = refuses('client', 'unknown-client')

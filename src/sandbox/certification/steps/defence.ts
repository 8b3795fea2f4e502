import { type InterfaceName, interfaceNamed } from '../../../ticketing/interfaces/index.ts'
import { newOrderId } from '../../../ticketing/orders/index.ts'
import type { CallOptions, CallResult, Forgery, RequestOf } from '../../../ticketing/partner-calls/index.ts'
import { type Codes, type Expectation, FORGED_CALLS, hasCode } from '../../checks/index.ts'
import { type FunctionId, offers } from '../../test-plan/index.ts'
import { NothingTested } from '../attempt-log.ts'
import type { StepContext } from '../step-context.ts'
import { firstPlacesRequest, levelPricesRequest, pricesRequest } from './catalogue.ts'
import { defineStep, type Step } from './step.ts'

type Options = Omit<CallOptions, 'cause'> & Expectation

/** A call that changes nothing at the partner. */
interface ReadOnlyCall {
  readonly needs: FunctionId & InterfaceName
  /** The codes of a correct response. */
  readonly codes: Codes
  /** The returned function sends the same body each time. */
  readonly call: (context: StepContext) => (options: Options) => Promise<CallResult<unknown>>
}

const readOnlyCall = <Name extends FunctionId & InterfaceName>(
  needs: Name,
  codes: Codes,
  bodyOf: (context: StepContext) => RequestOf<Name>,
): ReadOnlyCall => ({
  needs,
  codes,
  call: (context) => {
    const body = bodyOf(context)
    return (options) => context.call(needs, body, options)
  },
})

/**
 * The first of these that the partner offers is used. Order query, which every partner offers, comes last: it asks
 * about an order that does not exist, so only the text of the response distinguishes a refusal from "no such order".
 * Heartbeats are not used, because programs answer them whoever asks.
 */
const READ_ONLY_CALLS: readonly ReadOnlyCall[] = [
  readOnlyCall('product-pull', [200], ({ choice }) => ({
    method: 'multi' as const,
    partnerDealIds: [choice.products.main],
  })),
  readOnlyCall('price-calendar', [200], pricesRequest),
  readOnlyCall('level-price-calendar', [200, 999], levelPricesRequest),
  readOnlyCall('poi-pull', [200], () => firstPlacesRequest),
  readOnlyCall('balance-query', [200], ({ choice }) => ({ partnerDealIds: [choice.products.main] })),
  readOnlyCall('order-query', 'failure', ({ deps: { config } }) => ({
    orderId: newOrderId(config.ORDER_ID_BITS),
    partnerOrderId: '',
  })),
]

/**
 * Makes a forged call that has to be refused, after the same call made correctly: a partner that refuses both has not
 * noticed the forgery. If the correct call does not get a suitable code, nothing is tested. Other problems of its
 * response are only warnings here, because the interface has a step of its own.
 */
const forgeryStep = (forge: Forgery, id: Step['id']): Step =>
  defineStep({
    id,
    kind: 'defence',
    needs: [],
    expects: FORGED_CALLS[forge].expects,
    async perform(context) {
      const chosen = READ_ONLY_CALLS.find(({ needs }) => offers(context.choice, needs))
      if (!chosen) throw new Error('no chosen function only reads')
      const call = chosen.call(context)
      const genuine = await call({ codes: chosen.codes, advisory: true })
      const answered = genuine.outcome === 'pending' ? { code: genuine.code } : genuine.json
      const definition = interfaceNamed(chosen.needs)
      if (!definition || !hasCode(definition, answered, chosen.codes)) throw new NothingTested()
      const genuineAnswer = genuine.outcome === 'failed' ? { genuineAnswer: genuine.json } : {}
      await call({ forge, refusal: { ...FORGED_CALLS[forge].refusal, ...genuineAnswer } })
    },
  })

export const wrongSignature = forgeryStep('signature', 'wrong-signature')
export const staleDate = forgeryStep('date', 'stale-date')
export const unknownClient = forgeryStep('client', 'unknown-client')

import { addSeconds } from '../../../platform/lib/clock.ts'
import { filledText } from '../../../platform/lib/json/fields.ts'
import { type Detail, localized } from '../../../platform/lib/localized-text.ts'
import { jsonFields } from '../../../ticketing/interfaces/index.ts'
import { CATALOGUE_REPEAT_S } from '../../../ticketing/mtp/index.ts'
import { ENDPOINTS } from '../../../ticketing/mws-wire/index.ts'
import { showOrder } from '../../../ticketing/orders/index.ts'
import { NOTICE_CHECKS, waitForNotice } from '../step-notices.ts'
import { expectedConsumption, expectedProductChange, fieldIn, fieldsIn, listIn, otherOrder } from './notice-body.ts'
import { defineStep } from './step.ts'
import { BUY_CHECKS, buyTestOrder } from './test-order.ts'
import { checkKnownVouchers, lacksVouchers } from './vouchers.ts'

/** How many products are named, if a notice is about others. */
const MAX_NAMED = 5

/** "Information changed". Any status is accepted; scripts send this one. */
const CHANGED = '2'

/** Any change of the main product; the platform pulls the product afterwards. */
export const productChange = defineStep({
  id: 'product-change',
  kind: 'notice',
  needs: ['product-change'],
  expects: NOTICE_CHECKS,
  async perform(context) {
    const { main } = context.choice.products
    await waitForNotice(context, {
      path: ENDPOINTS['deal-change'],
      about: { partnerDealId: main, status: CHANGED },
      notice: expectedProductChange(context, main, CHANGED),
      otherSubject: (body) => {
        const named = fieldsIn(body, 'partnerDealId')
        if (named.length === 0 || named.includes(main)) return undefined
        return localized('other-product', { said: named.slice(0, MAX_NAMED).join(', '), wanted: main })
      },
      // The same bytes again are no new notice, so one sent just before Start would never be seen to arrive.
      since: addSeconds(context.startedAt, -CATALOGUE_REPEAT_S),
    })
  },
})

const USED = '1'

/** The notice lists codes, but marks none of them as used. */
const marksNoneUsed = (body: string): boolean => {
  const codes = ['voucherList', 'credentialList'].flatMap((field) => listIn(body, field))
  return codes.length > 0 && !codes.some((code) => filledText(jsonFields(code).status) === USED)
}

/**
 * All tickets of the order are used at the gate; the partner reports cumulative quantities, all at once or ticket by
 * ticket. Each attempt buys a new order, so that earlier notices cannot complete it.
 */
export const consumption = defineStep({
  id: 'consumption',
  kind: 'notice',
  needs: [],
  expects: { ...NOTICE_CHECKS, ...BUY_CHECKS, quantities: 'error', 'voucher-list': 'error' },
  async perform(context) {
    const { main } = context.choice.products
    const bought = await buyTestOrder(context, 'consumption', main)
    const { order_id: orderId, quantity } = bought
    const details = (used: Detail) => ({ path: 'body.usedQuantity', expected: String(quantity), actual: used })
    const expected = {
      path: ENDPOINTS.consume,
      about: {
        orderId: String(orderId),
        partnerOrderId: bought.partner_order_id ?? '',
        quantity: String(quantity),
        usedQuantity: String(quantity),
      },
      notice: expectedConsumption(context, bought),
      otherSubject: (body: string) => otherOrder(orderId, body),
      stillMissing: (body: string) => {
        const used = Number(fieldIn(body, 'usedQuantity'))
        if (used + Number(fieldIn(body, 'refundedQuantity')) >= quantity) return undefined
        const isUnmarked = bought.vouchers.length === quantity && used > 0 && marksNoneUsed(body)
        return localized(isUnmarked ? 'partly-used-unmarked' : 'partly-used', {
          used: `${used}`,
          quantity: `${quantity}`,
        })
      },
    }
    const notice = await waitForNotice(context, expected, ({ values }) =>
      context.require('quantities', false, details(values.used ?? '')),
    )
    const { order } = await showOrder(context.deps, orderId)
    await context.check('quantities', order.used_quantity === quantity, details(String(order.used_quantity)))
    const listed = ['voucherList', 'credentialList'].flatMap((field) => listIn(notice.body, field))
    if (!(await lacksVouchers(context, order.vouchers.length > 0, listed.length))) {
      await checkKnownVouchers(context, order)
    }
    await context.check('order-state', order.state === 'consumed', { expected: 'consumed', actual: order.state })
  },
})

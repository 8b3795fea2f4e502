import { MOUNT } from '../../../platform/config/mounts.ts'
import { type Detail, localized } from '../../../platform/lib/localized-text.ts'
import { jsonFields } from '../../../ticketing/interfaces/index.ts'
import { PATH } from '../../../ticketing/mws-wire/index.ts'
import { showOrder } from '../../../ticketing/orders/index.ts'
import { NOTICE_CHECKS, waitForNotice } from '../step-notices.ts'
import { fieldIn, fieldsIn, listIn, otherOrder, wantedConsumption, wantedProductChange } from './notice-body.ts'
import { defineStep } from './step.ts'
import { BUY_CHECKS, buyTestOrder } from './test-order.ts'
import { checkKnownVouchers, lacksVouchers } from './vouchers.ts'

/** Products that are named of a notice about others. */
const MAX_NAMED = 5

/** "Information changed": the value for a script to send where any status is accepted. */
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
      path: MOUNT + PATH.dealChange,
      about: { partnerDealId: main, status: CHANGED },
      notice: wantedProductChange(context, main, CHANGED),
      concernsOther: (body) => {
        const named = fieldsIn(body, 'partnerDealId')
        if (named.length === 0 || named.includes(main)) return undefined
        return localized('other-product', { said: named.slice(0, MAX_NAMED).join(', '), wanted: main })
      },
    })
  },
})

const USED = '1'

/** Whether a notice names codes, and none of them as used. */
const marksNone = (body: string): boolean => {
  const codes = ['voucherList', 'credentialList'].flatMap((field) => listIn(body, field))
  return codes.length > 0 && !codes.some((code) => String(jsonFields(code).status) === USED)
}

/**
 * All tickets of the order are used at the gate; the partner says so with cumulative quantities, at once or ticket by
 * ticket. Each attempt has an order of its own, so that no notice of before decides it.
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
    const notice = await waitForNotice(context, {
      path: MOUNT + PATH.consume,
      about: {
        orderId: String(orderId),
        partnerOrderId: bought.partner_order_id ?? '',
        quantity: String(quantity),
        usedQuantity: String(quantity),
      },
      notice: wantedConsumption(context, bought),
      concernsOther: (body) => otherOrder(orderId, body),
      stillMissing: (body) => {
        const [used = 0, refunded = 0] = ['usedQuantity', 'refundedQuantity'].map((field) =>
          Number(fieldIn(body, field)),
        )
        if (used + refunded >= quantity) return undefined
        const isUnmarked = bought.vouchers.length === quantity && used > 0 && marksNone(body)
        return localized(isUnmarked ? 'partly-used-unmarked' : 'partly-used', {
          used: `${used}`,
          quantity: `${quantity}`,
        })
      },
      onTimeout: ({ values }) => context.require('quantities', false, details(values.used ?? '')),
    })
    const { order } = await showOrder(context.deps, orderId)
    await context.check('quantities', order.used_quantity === quantity, details(String(order.used_quantity)))
    const listed = ['voucherList', 'credentialList'].flatMap((field) => listIn(notice.body, field))
    if (!(await lacksVouchers(context, order.vouchers.length > 0, listed.length))) {
      await checkKnownVouchers(context, order)
    }
    await context.check('order-state', order.state === 'consumed', { expected: 'consumed', actual: order.state })
  },
})

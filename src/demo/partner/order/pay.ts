import { type Answer, refuse } from '../answer.ts'
import type { Fields } from '../fields.ts'
import type { Shop } from '../shop.ts'
import { deposit } from './deposit.ts'
import { orderOf } from './find.ts'
import { issue } from './issue.ts'
import { isClosed, type Order, VOUCHER_TYPE } from './order.ts'
import { credentialList, voucherCodes } from './voucher.ts'

const ISSUING_TAKES_MS = 3_000

/** Order pay: the customer has paid the platform, so issue the tickets. Asked again, it shows the same tickets. */
export function payOrder(shop: Shop, body: Fields): Answer {
  const order = orderOf(shop, body, 599)
  if (isClosed(order)) refuse(599, 'the order is closed')
  if (order.state === 'created') begin(shop, order)
  // Not a failure: the platform waits and asks by order query.
  if (order.state === 'paying') return { code: 598, describe: 'issuing' }
  return {
    body: {
      orderId: order.orderId,
      partnerOrderId: order.partnerOrderId,
      voucherType: VOUCHER_TYPE[order.product.vouchers],
      vouchers: voucherCodes(order),
      voucherPics: [],
      realNameType: order.product.entry.visitorInfoType === 3 ? 1 : 0,
      credentialList: credentialList(order),
    },
  }
}

function begin(shop: Shop, order: Order): void {
  if (deposit(shop) < order.quantity * order.offer.prices.settlement) refuse(501, 'the deposit is used up')
  if (order.product.issues === 'at once') {
    issue(order)
    return
  }
  order.state = 'paying'
  order.issuesAt = shop.now().getTime() + ISSUING_TAKES_MS
}

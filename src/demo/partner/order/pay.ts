import { type Answer, refuse } from '../answer.ts'
import type { Fields } from '../fields.ts'
import { ticketsIssued } from '../notices.ts'
import type { Shop } from '../shop.ts'
import { issue, orderOf } from './issue.ts'
import { isClosed, type Order } from './order.ts'
import { deposit } from './stock.ts'
import { issuedTickets } from './voucher.ts'

const ISSUING_TAKES_MS = 3_000

/** Order pay: the customer has paid the platform, so issue the tickets. Asked again, it shows the same tickets. */
export function payOrder(shop: Shop, body: Fields): Answer {
  const order = orderOf(shop, body, 599)
  if (isClosed(order)) refuse(599, 'the order is closed')
  if (order.state === 'created') begin(shop, order)
  // Not a failure: the platform waits, and asks by order query.
  if (order.state === 'paying') return { code: 598, describe: 'issuing' }
  return { body: issuedTickets(order) }
}

function begin(shop: Shop, order: Order): void {
  if (deposit(shop) < order.quantity * order.offer.prices.settlement) refuse(501, 'the deposit is used up')
  if (order.product.issues === 'at once') {
    issue(order)
    return
  }
  order.state = 'paying'
  if (order.product.issues === 'later') {
    order.issuesAt = shop.now().getTime() + ISSUING_TAKES_MS
    return
  }
  order.issuesAt = Number.POSITIVE_INFINITY
  setTimeout(() => issueByNotice(shop, order), ISSUING_TAKES_MS).unref()
}

/** The platform hears of the tickets before anybody can ask for them: until then the order is being paid. */
async function issueByNotice(shop: Shop, order: Order): Promise<void> {
  if (order.state !== 'paying') return
  issue(order)
  order.state = 'paying'
  await ticketsIssued(shop, order).firstAttempt
  if (order.state === 'paying') order.state = 'issued'
}

import type { Fields } from '../fields.ts'
import type { Notice } from '../outbox.ts'
import type { Shop } from '../shop.ts'
import { consume, decideRefund } from './order.ts'
import { addProduct, changeProduct } from './product.ts'

/** Actions in the shop that the platform must be notified of; each throws a Refusal if it is not possible. */
export const ACTIONS = {
  consume,
  'decide-refund': decideRefund,
  'change-product': changeProduct,
  'add-product': addProduct,
} as const

export type Action = keyof typeof ACTIONS

/** Does it and waits for the first attempt of each notice that it causes. */
export async function act(shop: Shop, action: Action, input: Fields): Promise<Notice[]> {
  const notices = ACTIONS[action](shop, input)
  await Promise.all(notices.map((notice) => notice.firstAttempt))
  return notices
}

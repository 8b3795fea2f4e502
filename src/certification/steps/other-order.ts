import { isRounded } from '../../lib/json/lossless.ts'
import { type Said, said } from '../../lib/said.ts'
import { fieldIn } from './notice-body.ts'

/**
 * What a notice is about if it names another order: that of an attempt before, or one that is not known. An id that was
 * rounded on the way means this order; the notice has been refused, and the step fails with it.
 */
export function otherOrder(wanted: bigint, body: string): Said | undefined {
  const named = fieldIn(body, 'orderId')
  if (named === undefined || named === String(wanted) || isRounded(named, wanted)) return undefined
  return said('other-order', { said: named, wanted: String(wanted) })
}

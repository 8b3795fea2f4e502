import { type Said, said } from '../../lib/said.ts'
import { RescodeError } from '../../lib/web/rescode.ts'
import { showOrder } from '../../orders/index.ts'
import type { StepContext } from '../step-context.ts'
import { fieldIn } from './notice-body.ts'

/**
 * What a notice is about if it names another order of the partner, such as that of an attempt before. A refused notice
 * may name an order that does not exist, because ids get rounded; that is not another one.
 */
export async function otherOrder(
  context: StepContext,
  wanted: bigint,
  body: string,
  accepted: boolean,
): Promise<Said | undefined> {
  const named = fieldIn(body, 'orderId')
  if (named === undefined || named === String(wanted)) return undefined
  if (!accepted && !(await isOwnOrder(context, named))) return undefined
  return said('other-order', { said: named, wanted: String(wanted) })
}

const LARGEST_ID = 2n ** 63n - 1n

async function isOwnOrder({ deps, partner }: StepContext, text: string): Promise<boolean> {
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > LARGEST_ID) return false
  try {
    return (await showOrder(deps, BigInt(text))).order.partner_id === partner.partner_id
  } catch (error) {
    if (error instanceof RescodeError) return false
    throw error
  }
}

import { z } from 'zod'
import { int64 } from '../lib/lossless.ts'
import { entryProblemsText } from '../ticketing/entries.ts'
import { pullProduct } from '../ticketing/pull-product.ts'
import { GiveUp, type Task } from './task.ts'

const payload = z.object({ partnerId: int64(), partnerDealId: z.string() })

/** A partner has said that a product is on sale or has changed. */
export const pullProductTask: Task = async (deps, given) => {
  const { partnerId, partnerDealId } = payload.parse(given)
  const { failure, problems } = await pullProduct(deps, { partner_id: partnerId, partner_deal_id: partnerDealId })
  if (failure) throw new Error(`${failure.kind}: ${failure.detail}`)
  if (problems.length > 0) throw new GiveUp(entryProblemsText(problems))
}

import { z } from 'zod'
import { int64 } from '../lib/lossless.ts'
import { entryProblemsText } from '../ticketing/entries.ts'
import { pullPrices } from '../ticketing/pull-prices.ts'
import { GiveUp, type Task } from './task.ts'

const payload = z.object({ partnerId: int64(), partnerDealId: z.string() })

/** A partner has said that a price calendar has changed. */
export const pullPricesTask: Task = async (deps, given) => {
  const { partnerId, partnerDealId } = payload.parse(given)
  const { failure, problems } = await pullPrices(deps, { partner_id: partnerId, partner_deal_id: partnerDealId })
  if (failure) throw new Error(`${failure.kind}: ${failure.detail}`)
  if (problems.length > 0) throw new GiveUp(entryProblemsText(problems))
}

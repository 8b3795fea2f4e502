import { z } from 'zod'
import { pullDue } from '../catalogue/due-pulls.ts'
import { applyProductChange, type ProductChange } from '../catalogue/product-change.ts'
import { queuePulls } from '../catalogue/queue-pulls.ts'
import { addSeconds } from '../lib/clock.ts'
import { int64 } from '../lib/json/lossless.ts'
import { GiveUp, type Task } from './task.ts'

/** A partner of which some calls have failed is left alone for so long. */
const PAUSE_S = 10

const payload = z.object({ partnerId: int64() })

/** A partner has said that products or price calendars have changed: some of them are pulled, the rest by the next run. */
export const pullDueTask: Task = async (deps, given, { signal }) => {
  const { partnerId } = payload.parse(given)
  const { settled, left, failure, problems } = await pullDue(deps, partnerId, signal)
  if (problems) throw new GiveUp(problems)
  if (!left) return
  if (failure && settled === 0) throw new Error(failure)
  await queuePulls(deps.db, partnerId, failure ? addSeconds(deps.clock.now(), PAUSE_S) : undefined)
}

const single = z.object({ partnerId: int64(), partnerDealId: z.string() })

/** Until 2026-11-22 each product had a job of its own; what of these is left becomes due like everything else. */
export const pullOneTask =
  (status: Extract<ProductChange['status'], 2 | 5>): Task =>
  async (deps, given, { id }) => {
    const { partnerId, partnerDealId } = single.parse(given)
    await applyProductChange(deps, partnerId, [{ partnerDealId, status }], { kind: 'job', id })
  }

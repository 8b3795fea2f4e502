import type { z } from 'zod'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { LIST_LIMITS, problemText } from '../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { addDays, beijingDate } from '../../platform/lib/time-zone.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import type { levelPrice } from '../interfaces/index.ts'
import { countPrices } from './price-store.ts'
import { applyProductChange } from './product-change.ts'
import { type Entry, lockProduct, nextAsked, type ProductKey } from './product-store.ts'
import { levelPriceOf, onlyRequested, storePrices } from './pull-prices.ts'

/** Days of one product's level price calendar, from a notice; every entry matches its schema. */
export interface ReportedLevelPrices {
  readonly partnerDealId: string
  readonly startTime: string
  readonly endTime: string
  readonly body: readonly z.output<typeof levelPrice>[]
  /** The entries as received. */
  readonly entries: readonly Entry[]
}

/** Tickets are sold a year ahead at most, and a season may be sent a little earlier. Yesterday's may arrive late. */
const DAYS_AHEAD = 400
const DAYS_BACK = 1

/**
 * Stores the entries. A product that is not known yet is created and pulled, as after a notice that it has changed.
 * Days that the notice does not mention stay: a closed day has a stock of 0, and a calendar may come in several
 * notices. Days out of range, and more entries than a pull may have, are refused, so that what is stored cannot grow
 * without limit.
 */
export async function applyLevelPrices(
  deps: Deps,
  partnerId: bigint,
  { partnerDealId, startTime, endTime, body, entries }: ReportedLevelPrices,
  cause: Cause,
): Promise<void> {
  const key = { partnerId, partnerDealId }
  const range = { from: startTime, to: endTime }
  const today = beijingDate(deps.clock.now())
  const [first, last] = [addDays(today, -DAYS_BACK), addDays(today, DAYS_AHEAD)]
  const refuse = (path: string, problem: LocalizedText) => new RefusedRequest(problemText({ path, problem }))
  if (startTime < first) throw refuse('startTime', localized('must-not-be-before', { day: first }))
  if (endTime > last) throw refuse('endTime', localized('must-not-be-after', { day: last }))
  const good = body.map((entry, index) => levelPriceOf(partnerDealId, entry, entries[index] ?? {}))
  const { good: prices } = onlyRequested({ good, problems: [] }, partnerDealId, range)
  await inTransaction(deps, async (inside, db) => {
    await ensureProduct(inside, key, cause)
    const asked = await nextAsked(db) // taken under the lock, so that it is the newest
    await storePrices(inside, { ...key, ...range, level: true, prices, complete: false, asked }, cause)
    const most = LIST_LIMITS.prices
    if ((await countPrices(db, key, first)) > most) {
      throw new RefusedRequest(localized('too-many-entries', { product: echo(partnerDealId), most }))
    }
  })
}

/** Creates the product unless it exists, and locks it until the caller's transaction ends. */
async function ensureProduct(deps: Deps, key: ProductKey, cause: Cause): Promise<void> {
  if (await lockProduct(deps.db, key)) return
  await applyProductChange(deps, key.partnerId, [{ partnerDealId: key.partnerDealId, status: 2 }], {
    cause,
    notice: 'level-prices',
  })
  await lockProduct(deps.db, key)
}

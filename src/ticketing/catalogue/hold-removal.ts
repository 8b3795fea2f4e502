import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import type { EntryProblem } from './entries.ts'
import { countGone, forgetRemoval, noteRemoval, type PricesToSave } from './price-store.ts'

/** Removals from shorter calendars are never held. */
const SHORT_DAYS = 10

/**
 * If most of a calendar is suddenly gone, that is more likely a mistake of the partner (its database is down, a filter
 * is wrong) than its intention. Nothing is removed then until the partner sends the same calendar again, a minute later
 * (PRICE_REMOVAL_HOLD_S). New and changed entries are stored anyway. Operators can read the problem.
 */
export async function heldRemoval(
  { config, db, clock }: Deps,
  prices: PricesToSave,
): Promise<EntryProblem | undefined> {
  if (!prices.complete || config.PRICE_REMOVAL_HOLD_S === 0) return undefined
  const { days, entries, gone } = await countGone(db, prices)
  if (days > SHORT_DAYS && gone * 2 > entries) {
    const now = clock.now()
    const saidAt = await noteRemoval(db, prices, digestOf(prices), now)
    if (now < addSeconds(saidAt, config.PRICE_REMOVAL_HOLD_S)) {
      const problem = `no longer has ${gone} of ${entries} stored entries; they are kept until the same is pulled again, at least ${config.PRICE_REMOVAL_HOLD_S} seconds later`
      return { entry: `${prices.from} to ${prices.to}`, path: 'body', problem }
    }
  }
  await forgetRemoval(db, prices)
  return undefined
}

const digestOf = ({ from, to, prices }: PricesToSave): Buffer =>
  sha256(
    JSON.stringify([from, to, ...prices.map((price) => `${price.price_date} ${price.partner_primary_key}`).sort()]),
  )

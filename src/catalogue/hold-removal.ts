import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'
import { sha256 } from '../lib/crypto/digest.ts'
import type { EntryProblem } from './entries.ts'
import { countGone, forgetRemoval, noteRemoval, type PricesToSave } from './price-store.ts'

/** Shorter calendars may lose what they want to. */
const SHORT_DAYS = 10

/**
 * A calendar of which most is suddenly gone is rather a partner's mistake than its will: a database that is down, a filter
 * that is wrong. Nothing is taken off sale then, until the partner gives the same calendar once more, a minute later
 * (PRICE_REMOVAL_HOLD_S). What is new or changed is stored all the same. The problem is for an operator to read.
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
      const problem = `no longer has ${gone} of ${entries} stored entries, which are kept until the same is pulled again, ${config.PRICE_REMOVAL_HOLD_S} seconds later or more`
      return { entry: `${prices.from} to ${prices.to}`, path: 'body', problem }
    }
  }
  await forgetRemoval(db, prices)
  return undefined
}

const digestOf = ({ from, to, prices }: PricesToSave): Buffer =>
  sha256(JSON.stringify([from, to, ...prices.map((one) => `${one.price_date} ${one.partner_primary_key}`).sort()]))

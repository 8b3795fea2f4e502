import { type Deps, inTransaction } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import type { EntryProblem } from './entries.ts'
import { countGone, forgetRemoval, noteRemoval, type Price, type PricesToSave, savePrices } from './price-store.ts'
import { type Entry, markProduct, recordProductChange } from './product-store.ts'

/** Days, both included. */
export interface Range {
  readonly from: string
  readonly to: string
}

/** A price of the product that the entry names. */
export type NamedPrice = Price & { readonly dealId: string }

/** The fields that entries of both kinds of calendar have. */
export interface CommonPrice {
  readonly dealId: string
  readonly priceDate: string
  readonly key: string
  readonly marketPrice: number
  readonly mtPrice: number
  readonly settlementPrice: number
  readonly stock: number
}

/** `raw` is the complete entry as received. */
export const namedPrice = (
  { dealId, priceDate, key, marketPrice, mtPrice, settlementPrice, stock }: CommonPrice,
  raw: Entry,
): NamedPrice => ({
  dealId,
  price_date: priceDate,
  partner_primary_key: key,
  market_price: marketPrice,
  mt_price: mtPrice,
  settlement_price: settlementPrice,
  stock,
  details: raw,
})

/** Only the requested entries: this product, these days; of two entries for the same day and key, the later one. */
export function onlyRequested(
  { good, problems }: { readonly good: readonly NamedPrice[]; readonly problems: readonly EntryProblem[] },
  partnerDealId: string,
  { from, to }: Range,
): { good: Price[]; problems: EntryProblem[] } {
  const byKey = new Map<string, Price>()
  const unrequested: EntryProblem[] = []
  for (const { dealId, ...price } of good) {
    const { price_date: day, partner_primary_key: key } = price
    if (dealId !== partnerDealId) {
      unrequested.push({ entry: day, path: 'partnerDealId', problem: `is ${dealId}; requested was ${partnerDealId}` })
    } else if (day < from || day > to) {
      unrequested.push({ entry: day, path: 'date', problem: `is not between ${from} and ${to}` })
    } else byKey.set(`${day} ${key}`, price)
  }
  return { good: [...byKey.values()], problems: [...problems, ...unrequested] }
}

/**
 * Stores a calendar, or a part of it, and records it in the product's history. An incomplete one removes nothing; `held` says
 * why a removal of most entries was held back.
 */
export async function storePrices(deps: Deps, prices: PricesToSave, cause: Cause) {
  const at = { cause, now: deps.clock.now() }
  return inTransaction(deps, async (inside, db) => {
    await markProduct(db, { ...prices, saleState: null }, at)
    const held = await heldRemoval(inside, prices)
    const stored = await savePrices(db, { ...prices, complete: prices.complete && !held }, at.now)
    const lost = held ? 'most entries would be removed, so none are' : `${stored.removed} removed`
    const said = `${prices.from} to ${prices.to}: ${stored.changed} new or changed, ${lost}`
    if (held || stored.changed + stored.removed > 0) await recordProductChange(db, prices, { prices: [null, said] }, at)
    return { ...stored, held: held ? [held] : [] }
  })
}

/** Removals from shorter calendars are never held. */
const SHORT_DAYS = 10

/**
 * If most of a calendar is suddenly gone, that is more likely a mistake of the partner (its database is down, a filter
 * is wrong) than its intention. Nothing is removed then until the partner sends the same calendar again, a minute later
 * (PRICE_REMOVAL_HOLD_S). New and changed entries are stored anyway. Operators can read the problem.
 */
async function heldRemoval({ config, db, clock }: Deps, prices: PricesToSave): Promise<EntryProblem | undefined> {
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

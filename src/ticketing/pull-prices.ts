import type { Deps } from '../deps.ts'
import { addDays, beijingDate } from '../lib/beijing.ts'
import type { PartnerWithSecrets } from '../registry/partner.ts'
import { callPartner } from './call-partner.ts'
import type { CallResult, Failure } from './call-result.ts'
import { type Entries, type EntryProblem, readEntries } from './entries.ts'
import type { Cause } from './history.ts'
import { levelPriceCalendar, priceCalendar } from './interfaces/price.ts'
import { partnerOf } from './order-answer.ts'
import { hasLevels, type Price, type PricesToSave, savePrices } from './price-store.ts'
import { markProduct, recordProductChange } from './product-store.ts'
import type { PriceRange } from './wire.ts'

const DAYS = 90

/** What a pull of a price calendar has brought. */
export interface PriceReport {
  readonly from: string
  readonly to: string
  /** Entries that are stored, and how many of them are new or changed. */
  readonly pulled: number
  readonly changed: number
  /** Entries that the calendar no longer has. */
  readonly removed: number
  readonly problems: readonly EntryProblem[]
  /** The partner will send it later (999). */
  readonly will_follow: boolean
  readonly failure: Failure | null
}

/** Pulls a product's price calendar from one date to another and keeps it, whole entries too; safe to repeat. */
export async function pullPrices(deps: Deps, input: PriceRange): Promise<PriceReport> {
  const key = { partnerId: input.partner_id, partnerDealId: input.partner_deal_id }
  const from = input.from ?? beijingDate(deps.clock.now())
  const range = { from, to: input.to ?? addDays(from, DAYS) }
  const partner = await partnerOf(deps, key.partnerId)
  const level = input.level ?? (await hasLevels(deps.db, key))
  const ask = level ? askLevels : askDays
  const { callId, pending, prices } = await ask(deps, partner, key.partnerDealId, range)
  const report = { ...range, pulled: 0, changed: 0, removed: 0, problems: [], will_follow: pending, failure: null }
  if ('kind' in prices) return { ...report, failure: prices }
  if (pending) return report
  const { good, problems } = sift(prices, key.partnerDealId, range)
  const kept = await keep(deps, { ...key, ...range, level, prices: good, complete: problems.length === 0 }, callId)
  return { ...report, ...kept, pulled: good.length, problems }
}

interface Range {
  readonly from: string
  readonly to: string
}
/** A price of the deal that the entry names. */
type Named = Price & { readonly dealId: string }
interface Asked {
  readonly callId: string
  readonly pending: boolean
  readonly prices: { readonly good: readonly Named[]; readonly problems: readonly EntryProblem[] } | Failure
}

async function askDays(deps: Deps, partner: PartnerWithSecrets, partnerDealId: string, range: Range): Promise<Asked> {
  const body = { partnerDealId, startTime: range.from, endTime: range.to }
  const result = await callPartner(deps, partner, 'price-calendar', body)
  const entries = readEntries(result, priceCalendar.answer.shape.body.element)
  return asked(result, entries, (entry) => ({ ...entry, dealId: entry.partnerDealId, priceDate: entry.date, key: '' }))
}

async function askLevels(deps: Deps, partner: PartnerWithSecrets, partnerDealId: string, range: Range): Promise<Asked> {
  const body = { partnerDealId, startTime: range.from, endTime: range.to, asyncType: 0 }
  const result = await callPartner(deps, partner, 'level-price-calendar', body)
  const entries = readEntries(result, levelPriceCalendar.answer.shape.body.element)
  const dealId = result.outcome === 'success' ? result.answer.partnerDealId : partnerDealId
  return asked(result, entries, (entry) => ({ ...entry, dealId, key: entry.partnerPrimaryKey }))
}

interface Common {
  readonly dealId: string
  readonly priceDate: string
  readonly key: string
  readonly marketPrice: number
  readonly mtPrice: number
  readonly settlementPrice: number
  readonly stock: number
}

function asked<Parsed>(
  { callId, outcome }: CallResult<unknown>,
  entries: Entries<Parsed> | Failure,
  common: (entry: Parsed) => Common,
): Asked {
  const pending = outcome === 'pending'
  if ('kind' in entries) return { callId, pending, prices: entries }
  const good = entries.good.map(({ parsed, raw }): Named => {
    const { dealId, priceDate, key, marketPrice, mtPrice, settlementPrice, stock } = common(parsed)
    return {
      dealId,
      price_date: priceDate,
      partner_primary_key: key,
      market_price: marketPrice,
      mt_price: mtPrice,
      settlement_price: settlementPrice,
      stock,
      details: raw,
    }
  })
  return { callId, pending, prices: { good, problems: entries.problems } }
}

/** Keeps what was asked for: this product, these days, and of two entries for the same day and key the later one. */
function sift(
  { good, problems }: Exclude<Asked['prices'], Failure>,
  partnerDealId: string,
  { from, to }: Range,
): { good: Price[]; problems: EntryProblem[] } {
  const byKey = new Map<string, Price>()
  const strangers: EntryProblem[] = []
  for (const { dealId, ...price } of good) {
    const { price_date: day, partner_primary_key: key } = price
    if (dealId !== partnerDealId) {
      strangers.push({ entry: day, path: 'partnerDealId', problem: `is ${dealId}; asked was ${partnerDealId}` })
    } else if (day < from || day > to) {
      strangers.push({ entry: day, path: 'date', problem: `is not within ${from} and ${to}` })
    } else byKey.set(`${day} ${key}`, price)
  }
  return { good: [...byKey.values()], problems: [...problems, ...strangers] }
}

async function keep(deps: Deps, prices: PricesToSave, callId: string): Promise<{ changed: number; removed: number }> {
  const at = { cause: { kind: 'call', id: callId } satisfies Cause as Cause, now: deps.clock.now() }
  return deps.db.tx(async (db) => {
    await markProduct(db, { ...prices, saleState: null }, at)
    const kept = await savePrices(db, prices, at.now)
    const said = `${prices.from} to ${prices.to}: ${kept.changed} new or changed, ${kept.removed} gone`
    if (kept.changed + kept.removed > 0) await recordProductChange(db, prices, { prices: [null, said] }, at)
    return kept
  })
}

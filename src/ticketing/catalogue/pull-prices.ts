import type { z } from 'zod'
import { recordIfOperator } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { type Cause, PRICES } from '../../platform/history/index.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { addDays, beijingDate } from '../../platform/lib/time-zone.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { jsonFields, type levelPrice, levelPriceCalendar, priceCalendar } from '../interfaces/index.ts'
import {
  type CallDeps,
  type CallProblem,
  type CallResult,
  callPartner,
  existingPartner,
} from '../partner-calls/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { markProduct } from './due-store.ts'
import { type Entries, type EntryProblem, readEntries } from './entries.ts'
import { implausibleValues, implausibleWarnings } from './implausible.ts'
import {
  claimNewest,
  countGone,
  forgetRemoval,
  hasLevels,
  noteRemoval,
  type Price,
  type PricesToSave,
  savePrices,
} from './price-store.ts'
import { type Entry, nextAsked, type ProductKey, recordProductChange } from './product-store.ts'
import type { PullOptions } from './pull-product.ts'
import { priceRange } from './wire.ts'

/** Days, both included. */
interface Range {
  readonly from: string
  readonly to: string
}

type LevelPrice = z.output<typeof levelPrice>

type NamedPrice = Price & { readonly dealId: string }

/** `raw` is the complete entry as received. */
const namedPrice = (
  { dealId, day, key = '' }: { readonly dealId: string; readonly day: string; readonly key?: string },
  entry: Pick<LevelPrice, 'marketPrice' | 'mtPrice' | 'settlementPrice' | 'stock'>,
  raw: Entry,
): NamedPrice => ({
  dealId,
  price_date: day,
  partner_primary_key: key,
  market_price: entry.marketPrice,
  mt_price: entry.mtPrice,
  settlement_price: entry.settlementPrice,
  stock: entry.stock,
  details: raw,
})

export const levelPriceOf = (dealId: string, entry: LevelPrice, raw: Entry): NamedPrice =>
  namedPrice({ dealId, day: entry.priceDate, key: entry.partnerPrimaryKey }, entry, raw)

/** Keeps the entries of the requested product and days; of two entries for the same day and key, the later one. */
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
      const problem = localized('about-another', { named: echo(dealId), order: partnerDealId })
      unrequested.push({ entry: day, path: 'partnerDealId', problem })
    } else if (day < from || day > to) {
      unrequested.push({ entry: day, path: 'date', problem: localized('not-between', { from, to }) })
    } else byKey.set(`${day} ${key}`, price)
  }
  return { good: [...byKey.values()], problems: [...problems, ...unrequested] }
}

/**
 * Stores (a part of) a calendar, with history. An incomplete one removes nothing; `held` says why removals wait.
 * Returns undefined, and stores nothing, if prices that were requested later are already stored.
 */
export async function storePrices(deps: Deps, { asked, ...prices }: PricesToSave & { asked: bigint }, cause: Cause) {
  const at = { cause, now: deps.clock.now() }
  return inTransaction(deps, async (inside, db) => {
    await markProduct(db, prices, at)
    if (!(await claimNewest(db, prices, asked))) return undefined
    const held = await heldRemoval(inside, prices, at.now)
    const stored = await savePrices(db, { ...prices, complete: prices.complete && !held }, at.now)
    const { from, to } = prices
    const { changed, removed } = stored
    const summary = held
      ? localized('prices-held', { from, to, changed })
      : localized('prices-changed', { from, to, changed, removed })
    if (held || changed + removed > 0) await recordProductChange(db, prices, { [PRICES]: [null, summary] }, at)
    return { ...stored, held: held ? [held] : [] }
  })
}

/** Removals from shorter calendars are never held. */
const SHORT_DAYS = 10

/**
 * If most of a calendar is suddenly gone, the partner has more likely made a mistake (its database is down, a filter is
 * wrong) than meant it. So nothing is removed until the same entries are missing again, at least PRICE_REMOVAL_HOLD_S
 * later, which may be in the next night's calendar. New and changed entries are stored anyway, and operators see the
 * problem.
 */
async function heldRemoval({ config, db }: Deps, prices: PricesToSave, now: Date): Promise<EntryProblem | undefined> {
  if (!prices.complete || config.PRICE_REMOVAL_HOLD_S === 0) return undefined
  const { days, entries, gone, said_at } = await countGone(db, prices)
  if (days > SHORT_DAYS && gone * 2 > entries) {
    if (!said_at) await noteRemoval(db, prices, now)
    if (now < addSeconds(said_at ?? now, config.PRICE_REMOVAL_HOLD_S)) {
      const problem = localized('removal-held', { gone, entries, seconds: config.PRICE_REMOVAL_HOLD_S })
      return { entry: `${prices.from} to ${prices.to}`, path: 'body', problem }
    }
  }
  await forgetRemoval(db, prices)
  return undefined
}

const DAYS = 90
/** How often a calendar is requested while newer prices keep overtaking it. */
const TRIES = 3

export interface PriceReport {
  readonly from: string
  readonly to: string
  /** Entries that are stored, and how many of them are new or changed. */
  readonly pulled: number
  readonly changed: number
  /** Entries that the calendar no longer has. */
  readonly removed: number
  readonly problems: readonly EntryProblem[]
  /** Stored entries whose values look like mistakes. */
  readonly warnings: readonly EntryProblem[]
  /** The partner will send it later (999). */
  readonly will_follow: boolean
  readonly failure: CallProblem | null
}

/**
 * Pulls a price calendar and stores its complete entries; safe to repeat. If newer prices overtake it, it is requested
 * again, because those may be for other days.
 */
export const pullPrices = operation(
  priceRange,
  async (deps: CallDeps, input, options: PullOptions): Promise<PriceReport> => {
    await recordIfOperator(deps, {
      event: 'prices_pull_asked',
      target: `product:${input.partner_id}/${input.partner_deal_id}`,
      partnerId: input.partner_id,
    })
    const key = { partnerId: input.partner_id, partnerDealId: input.partner_deal_id }
    const from = input.from ?? beijingDate(deps.clock.now())
    const range = { from, to: input.to ?? addDays(from, DAYS) }
    const partner = await existingPartner(deps, key.partnerId)
    for (let tries = 0; tries < TRIES; tries++) {
      const report = await pullOnce(deps, partner, { ...key, ...range, level: input.level }, options)
      if (report) return report
    }
    throw new RefusedRequest(localized('prices-overtaken', { product: echo(key.partnerDealId) }))
  },
)

/** Undefined if newer prices were stored meanwhile. */
async function pullOnce(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  { partnerId, partnerDealId, from, to, level: wanted }: ProductKey & Range & { level: boolean | undefined },
  options: PullOptions,
): Promise<PriceReport | undefined> {
  const key = { partnerId, partnerDealId }
  const range = { from, to }
  const level = wanted ?? (await hasLevels(deps.db, key))
  const asked = await nextAsked(deps.db)
  const body = { partnerDealId, startTime: from, endTime: to }
  const ask = level ? askLevels : askDays
  const { callId, pending, hasList, prices } = await ask(deps, partner, body, options)
  const report = { ...range, pulled: 0, changed: 0, removed: 0, problems: [], will_follow: pending, failure: null }
  if ('kind' in prices) return { ...report, warnings: [], failure: prices }
  const warnings = await warningsOf(deps, key, level, prices.good)
  if (pending) return { ...report, warnings }
  const { good, problems } = onlyRequested(prices, partnerDealId, range)
  const toSave = { ...key, ...range, level, prices: good, complete: hasList && problems.length === 0, asked }
  const done = await storePrices(deps, toSave, { kind: 'call', id: callId })
  if (!done) return undefined
  const { held, ...stored } = done
  return { ...report, ...stored, pulled: good.length, problems: [...problems, ...held], warnings }
}

async function warningsOf(
  { db }: Deps,
  { partnerId, partnerDealId }: ProductKey,
  level: boolean,
  prices: readonly NamedPrice[],
): Promise<EntryProblem[]> {
  const body = prices.map(({ details }) => details)
  const definition = level ? levelPriceCalendar : priceCalendar
  const implausible = await implausibleValues(db, partnerId, definition, { body, partnerDealId })
  return implausibleWarnings(implausible, (index) => prices[index]?.price_date ?? '')
}

type CalendarRequest = Readonly<Record<'partnerDealId' | 'startTime' | 'endTime', string>>

async function askDays(deps: CallDeps, partner: PartnerWithSecrets, body: CalendarRequest, options: PullOptions) {
  const result = await callPartner(deps, partner, 'price-calendar', body, options)
  const entries = readEntries(result, priceCalendar.answer, 'prices')
  return calendarAnswer(result, entries, (entry, raw) =>
    namedPrice({ dealId: entry.partnerDealId, day: entry.date }, entry, raw),
  )
}

async function askLevels(deps: CallDeps, partner: PartnerWithSecrets, body: CalendarRequest, options: PullOptions) {
  const result = await callPartner(deps, partner, 'level-price-calendar', { ...body, asyncType: 0 }, options)
  const entries = readEntries(result, levelPriceCalendar.answer, 'prices')
  const dealId = 'kind' in entries ? undefined : entries.fields?.partnerDealId
  return calendarAnswer(result, entries, (entry, raw) => levelPriceOf(dealId ?? body.partnerDealId, entry, raw))
}

function calendarAnswer<Parsed>(
  result: CallResult<unknown>,
  entries: Entries<Parsed> | CallProblem,
  price: (entry: Parsed, raw: Entry) => NamedPrice,
) {
  const { callId } = result
  const pending = result.outcome === 'pending'
  // A missing list is read as empty, but removes no days.
  const hasList = !pending && Array.isArray(jsonFields(result.json).body)
  if ('kind' in entries) return { callId, pending, hasList, prices: entries }
  const good = entries.good.map(({ parsed, raw }) => price(parsed, raw))
  return { callId, pending, hasList, prices: { good, problems: entries.problems } }
}

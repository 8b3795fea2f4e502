import { recordIfOperator } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { addDays, beijingDate } from '../../platform/lib/time-zone.ts'
import { jsonFields, levelPriceCalendar, priceCalendar } from '../interfaces/index.ts'
import type { CallDeps } from '../partner-calls/index.ts'
import { type CallProblem, type CallResult, callPartner, existingPartner } from '../partner-calls/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { type Entries, type EntryProblem, readEntries } from './entries.ts'
import { implausibleValues, implausibleWarnings } from './implausible.ts'
import { hasLevels } from './price-store.ts'
import type { ProductKey } from './product-store.ts'
import type { PullOptions } from './pull-product.ts'
import {
  type CommonPrice,
  type NamedPrice,
  namedPrice,
  onlyRequested,
  type Range,
  storePrices,
} from './store-prices.ts'
import { priceRange } from './wire.ts'

const DAYS = 90

/** The result of a pull of a price calendar. */
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
 * Pulls a product's price calendar from one date to another and stores it with its complete entries; safe to repeat.
 */
export const pullPrices = operation(
  priceRange,
  async (deps: CallDeps, input, options: PullOptions): Promise<PriceReport> => {
    await recordIfOperator(deps, {
      event: 'prices_pull_asked',
      target: `product:${input.partner_deal_id}`,
      partnerId: input.partner_id,
    })
    const key = { partnerId: input.partner_id, partnerDealId: input.partner_deal_id }
    const from = input.from ?? beijingDate(deps.clock.now())
    const range = { from, to: input.to ?? addDays(from, DAYS) }
    const partner = await existingPartner(deps, key.partnerId)
    const level = input.level ?? (await hasLevels(deps.db, key))
    const ask = level ? askLevels : askDays
    const { callId, pending, listed, prices } = await ask(
      deps,
      partner,
      { ...range, partnerDealId: key.partnerDealId },
      options,
    )
    const report = { ...range, pulled: 0, changed: 0, removed: 0, problems: [], will_follow: pending, failure: null }
    if ('kind' in prices) return { ...report, warnings: [], failure: prices }
    const warnings = await warningsOf(deps, key, level, prices.good)
    if (pending) return { ...report, warnings }
    const { good, problems } = onlyRequested(prices, key.partnerDealId, range)
    const toSave = { ...key, ...range, level, prices: good, complete: listed && problems.length === 0 }
    const { held, ...stored } = await storePrices(deps, toSave, { kind: 'call', id: callId })
    return { ...report, ...stored, pulled: good.length, problems: [...problems, ...held], warnings }
  },
)

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

interface Wanted extends Range {
  readonly partnerDealId: string
}
interface Asked {
  readonly callId: string
  readonly pending: boolean
  /** Whether the partner sent a list: a missing one is read as empty, but removes no days. */
  readonly listed: boolean
  readonly prices: { readonly good: readonly NamedPrice[]; readonly problems: readonly EntryProblem[] } | CallProblem
}

async function askDays(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  wanted: Wanted,
  options: PullOptions,
): Promise<Asked> {
  const body = { partnerDealId: wanted.partnerDealId, startTime: wanted.from, endTime: wanted.to }
  const result = await callPartner(deps, partner, 'price-calendar', body, options)
  const entries = readEntries(result, priceCalendar.answer, 'prices')
  return asked(result, entries, (entry) => ({ ...entry, dealId: entry.partnerDealId, priceDate: entry.date, key: '' }))
}

async function askLevels(
  deps: CallDeps,
  partner: PartnerWithSecrets,
  { partnerDealId, from, to }: Wanted,
  options: PullOptions,
): Promise<Asked> {
  const body = { partnerDealId, startTime: from, endTime: to, asyncType: 0 }
  const result = await callPartner(deps, partner, 'level-price-calendar', body, options)
  const entries = readEntries(result, levelPriceCalendar.answer, 'prices')
  const dealId = 'kind' in entries ? partnerDealId : (entries.fields?.partnerDealId ?? partnerDealId)
  return asked(result, entries, (entry) => ({ ...entry, dealId, key: entry.partnerPrimaryKey }))
}

function asked<Parsed>(
  result: CallResult<unknown>,
  entries: Entries<Parsed> | CallProblem,
  common: (entry: Parsed) => CommonPrice,
): Asked {
  const { callId } = result
  const pending = result.outcome === 'pending'
  const listed = !pending && Array.isArray(jsonFields(result.json).body)
  if ('kind' in entries) return { callId, pending, listed, prices: entries }
  const good = entries.good.map(({ parsed, raw }) => namedPrice(common(parsed), raw))
  return { callId, pending, listed, prices: { good, problems: entries.problems } }
}

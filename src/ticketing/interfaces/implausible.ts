import { utcDate } from '../../platform/lib/clock.ts'
import { filledText } from '../../platform/lib/json/fields.ts'
import type { ShapeProblem } from '../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { cutTo } from '../../platform/lib/storable.ts'

/**
 * Values that fit their schema but look like mistakes (REFERENCE "Values that look like mistakes"). They are stored as
 * received, and listed in the report of a pull and the log of a test run.
 */

type Entry = Readonly<Record<string, unknown>>

export interface ImplausibleValue extends ShapeProblem {
  readonly index: number
}

const PRICE_FIELDS = ['marketPrice', 'mtPrice', 'settlementPrice'] as const
type PriceField = (typeof PRICE_FIELDS)[number]
/** The usual price of each kind, in yuan; null, undefined or NaN where unknown. */
export type UsualPrices = Readonly<Partial<Record<PriceField, number | null | undefined>>>

/** Cents given as yuan are a hundred times too much. Seasons and kinds of tickets differ by far less than 50 times. */
const SUSPICIOUS_FACTOR = 50
/** The median of fewer prices means nothing. */
const FEWEST_FOR_MEDIAN = 3

/** NaN for a missing field. */
function numberIn(entry: Entry, field: string): number {
  const text = filledText(entry[field])
  return text === undefined ? Number.NaN : Number(text)
}

const isFarFrom = (usual: number, price: number): boolean =>
  usual > 0 && price > 0 && (price >= usual * SUSPICIOUS_FACTOR || price * SUSPICIOUS_FACTOR <= usual)

/** Reports the first of these entries, and how many more there are: a calendar has thousands. */
function firstOf(
  indexes: readonly number[],
  path: string,
  problem: (index: number) => LocalizedText,
): ImplausibleValue[] {
  const [index] = indexes
  if (index === undefined) return []
  const [first, count] = [problem(index), indexes.length - 1]
  if (count === 0) return [{ index, path, problem: first }]
  const more = count === 1 ? localized('one-like-this', { problem: first }) : undefined
  return [{ index, path, problem: more ?? localized('more-like-this', { problem: first, count }) }]
}

const indexesWhere = (entries: readonly Entry[], is: (entry: Entry) => boolean): number[] =>
  entries.flatMap((entry, index) => (is(entry) ? [index] : []))

function median(prices: readonly number[]): number | undefined {
  const known = prices.filter((price) => price > 0).sort((one, other) => one - other)
  return known.length < FEWEST_FOR_MEDIAN ? undefined : known[Math.floor(known.length / 2)]
}

const mediansOf = (entries: readonly Entry[]): UsualPrices =>
  usual((field) => median(entries.map((entry) => numberIn(entry, field))))

export const pricesOf = (entry: Entry): UsualPrices => usual((field) => numberIn(entry, field))

const usual = (priceOf: (field: PriceField) => number | undefined): UsualPrices =>
  Object.fromEntries(PRICE_FIELDS.map((field) => [field, priceOf(field)]))

/** Prices far from the usual ones; `whose` says where `known` comes from, such as the median of this calendar. */
export const implausiblePrices = (
  entries: readonly Entry[],
  known: UsualPrices,
  whose: LocalizedText,
): ImplausibleValue[] =>
  PRICE_FIELDS.flatMap((field) => {
    const expected = known[field] ?? Number.NaN
    const far = indexesWhere(entries, (entry) => isFarFrom(expected, numberIn(entry, field)))
    return firstOf(far, field, (index) => {
      const given = numberIn(entries[index] as Entry, field)
      return localized('price-far', { given, whose, expected })
    })
  })

/** The seller would get more than the buyer pays. Closed days, with a price of 0 and no stock, do not count. */
const isAboveSale = (entry: Entry): boolean => {
  const [sale, settlement] = [numberIn(entry, 'mtPrice'), numberIn(entry, 'settlementPrice')]
  return settlement > sale && !(sale === 0 && numberIn(entry, 'stock') === 0)
}

const implausibleSettlements = (entries: readonly Entry[]): ImplausibleValue[] =>
  firstOf(indexesWhere(entries, isAboveSale), 'settlementPrice', (index) => {
    const entry = entries[index] as Entry
    const [settlement, sale] = [numberIn(entry, 'settlementPrice'), numberIn(entry, 'mtPrice')]
    return localized('above-sale', { settlement, sale })
  })

/** Days (with their session or kind) that occur again with other prices or stock: the later entry counts. */
function implausibleRepeats(entries: readonly Entry[], day: 'date' | 'priceDate'): ImplausibleValue[] {
  const seen = new Map<string, string>()
  const differing = indexesWhere(entries, (entry) => {
    const key = JSON.stringify([entry.partnerDealId, entry[day], entry.partnerPrimaryKey].map(filledText))
    const content = [...PRICE_FIELDS, 'stock'].map((field) => numberIn(entry, field)).join(' ')
    const before = seen.get(key)
    seen.set(key, content)
    return before !== undefined && before !== content
  })
  return firstOf(differing, day, () => localized('day-again'))
}

export const implausibleInCalendar = (entries: readonly Entry[], day: 'date' | 'priceDate'): ImplausibleValue[] => [
  ...implausibleSettlements(entries),
  ...implausiblePrices(entries, mediansOf(entries), localized('median-here')),
  ...implausibleRepeats(entries, day),
]

const DATE_FIELDS = ['scheduleOnlineTime', 'scheduleOfflineTime', 'voucherDateBegin', 'voucherDateEnd'] as const
const MAX_UNAVAILABLE = 400

/** Whether a text begins like a date of a day that does not exist, such as 2026-02-30. */
function isImpossible(value: unknown): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)/.exec(filledText(value) ?? '') ?? []
  if (day === undefined) return false
  const real = utcDate(Number(year), Number(month), Number(day))
  return real.getUTCMonth() + 1 !== Number(month) || real.getUTCDate() !== Number(day)
}

/** The forms of the contract. Reading any other text as a date would be a guess. */
const DATE_OR_TIME = /^\d{4}-\d{1,2}-\d{1,2}(?: \d{1,2}:\d{2}(?::\d{2})?)?$/
const SHOWN_CHARACTERS = 40

function formProblems(product: Entry): ShapeProblem[] {
  return DATE_FIELDS.flatMap((path) => {
    const given = product[path]
    if (typeof given !== 'string' || given === '' || DATE_OR_TIME.test(given)) return []
    return { path, problem: localized('no-date', { given: cutTo(given, SHOWN_CHARACTERS) }) }
  })
}

function dateProblems(product: Entry): ShapeProblem[] {
  const { unavailableDates } = product
  const days = Array.isArray(unavailableDates) ? unavailableDates.slice(0, MAX_UNAVAILABLE) : []
  const dates: [string, unknown][] = [
    ...DATE_FIELDS.map((field): [string, unknown] => [field, product[field]]),
    ...days.map((day, index): [string, unknown] => [`unavailableDates[${index}]`, day]),
  ]
  return dates
    .filter(([, value]) => isImpossible(value))
    .map(([path, value]) => ({ path, problem: localized('no-such-day', { day: cutTo(String(value), 10) }) }))
}

function countProblems(product: Entry): ShapeProblem[] {
  const [fewest, most] = [numberIn(product, 'minBuyCount'), numberIn(product, 'maxBuyCount')]
  const problem = localized('fewest-above-most', { fewest, most })
  return most > 0 && fewest > most ? [{ path: 'minBuyCount', problem }] : []
}

/** Implausible values of each product in a list, and products that are in it twice: the later entry counts. */
export function implausibleInProducts(products: readonly Entry[]): ImplausibleValue[] {
  const seen = new Set<string>()
  const repeated = indexesWhere(products, ({ partnerDealId }) => {
    const id = filledText(partnerDealId) ?? ''
    return seen.has(id) || !seen.add(id)
  })
  return [
    ...firstOf(repeated, 'partnerDealId', () => localized('product-again')),
    ...products.flatMap((product, index) =>
      [
        ...implausibleSettlements([product]),
        ...countProblems(product),
        ...formProblems(product),
        ...dateProblems(product),
      ].map((value) => ({ ...value, index })),
    ),
  ]
}

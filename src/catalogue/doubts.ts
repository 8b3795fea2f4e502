import type { Db } from '../db/sql.ts'
import {
  type Doubt,
  levelPriceCalendar,
  type PartnerInterface,
  priceCalendar,
  pricesOf,
  productPull,
  scaleDoubts,
} from '../interfaces/index.ts'
import { echo } from '../lib/web/rescode.ts'
import { type EntryProblem, MOST_ENTRY_PROBLEMS } from './entries.ts'
import { usualPrices } from './price-store.ts'
import { type Entry, findProduct, type ProductKey } from './product-store.ts'

const BEFORE = 'the median of the stored prices of this product'

/**
 * What looks like a mistake in the entries of an answer, by themselves and beside what is stored of their products
 * (DECISIONS "Values that look like mistakes"). To be asked before the entries are stored.
 */
export async function doubtsAbout(
  db: Db,
  partnerId: bigint,
  { name, doubts }: Pick<PartnerInterface, 'name' | 'doubts'>,
  answer: { readonly body: readonly Entry[]; readonly partnerDealId?: unknown },
): Promise<Doubt[]> {
  const entries = answer.body
  const alone = doubts?.(entries) ?? []
  const beside = name === productPull.name ? besideProducts : isCalendar(name) ? besidePrices : undefined
  const stored = (await beside?.(db, partnerId, answer)) ?? []
  const isNew = ({ place, path }: Doubt) => !alone.some((known) => known.place === place && known.path === path)
  return [...alone, ...stored.filter(isNew)]
}

const isCalendar = (name: string): boolean => name === priceCalendar.name || name === levelPriceCalendar.name

async function besidePrices(
  db: Db,
  partnerId: bigint,
  { body, partnerDealId }: { readonly body: readonly Entry[]; readonly partnerDealId?: unknown },
): Promise<Doubt[]> {
  const id = partnerDealId ?? body[0]?.partnerDealId
  if (id === undefined) return []
  return scaleDoubts(body, await usualPrices(db, { partnerId, partnerDealId: String(id) }), BEFORE)
}

/** Of products with prices of their own (open date). */
async function besideProducts(
  db: Db,
  partnerId: bigint,
  { body }: { readonly body: readonly Entry[] },
): Promise<Doubt[]> {
  const doubts: Doubt[] = []
  for (const [place, entry] of body.entries()) {
    if (entry.mtPrice === undefined) continue
    const key: ProductKey = { partnerId, partnerDealId: String(entry.partnerDealId) }
    const known = await findProduct(db, key)
    if (known)
      doubts.push(
        ...scaleDoubts([entry], pricesOf(known.details), 'the previous price').map((one) => ({ ...one, place })),
      )
  }
  return doubts
}

/** Doubts as a report of a pull lists them, each entry by its day or product. */
export const doubtWarnings = (doubts: readonly Doubt[], nameOf: (place: number) => string): EntryProblem[] =>
  doubts
    .slice(0, MOST_ENTRY_PROBLEMS)
    .map(({ place, path, problem }) => ({ entry: echo(nameOf(place)), path, problem }))

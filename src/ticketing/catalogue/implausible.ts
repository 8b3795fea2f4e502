import type { Db } from '../../platform/db/sql.ts'
import { filledText } from '../../platform/lib/json/fields.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo } from '../../platform/lib/web/rescode.ts'
import {
  type ImplausibleValue,
  implausiblePrices,
  levelPriceCalendar,
  type PartnerInterface,
  priceCalendar,
  pricesOf,
  productPull,
} from '../interfaces/index.ts'
import { type EntryProblem, MAX_ENTRY_PROBLEMS } from './entries.ts'
import { usualPrices } from './price-store.ts'
import { type Entry, findProduct } from './product-store.ts'

interface ListAnswer {
  readonly body: readonly Entry[]
  readonly partnerDealId?: unknown
}

/**
 * What looks like a mistake in the entries of an answer, on their own and compared with what is stored of their
 * products (REFERENCE "Values that look like mistakes"). Call it before the entries are stored.
 */
export async function implausibleValues(
  db: Db,
  partnerId: bigint,
  { name, implausible }: Pick<PartnerInterface, 'name' | 'implausible'>,
  answer: ListAnswer,
): Promise<ImplausibleValue[]> {
  const inItself = implausible?.(answer.body) ?? []
  const stored = (await COMPARED[name]?.(db, partnerId, answer)) ?? []
  const isNew = ({ index, path }: ImplausibleValue) =>
    !inItself.some((known) => known.index === index && known.path === path)
  return [...inItself, ...stored.filter(isNew)]
}

type Compare = (db: Db, partnerId: bigint, answer: ListAnswer) => Promise<ImplausibleValue[]>

const comparedWithPrices: Compare = async (db, partnerId, { body, partnerDealId }) => {
  const id = filledText(partnerDealId ?? body[0]?.partnerDealId)
  if (id === undefined) return []
  return implausiblePrices(body, await usualPrices(db, { partnerId, partnerDealId: id }), localized('median-stored'))
}

/** Only open-date products have prices of their own. */
const comparedWithProducts: Compare = async (db, partnerId, { body }) => {
  const implausible: ImplausibleValue[] = []
  for (const [index, entry] of body.entries()) {
    const partnerDealId = filledText(entry.partnerDealId)
    if (entry.mtPrice === undefined || partnerDealId === undefined) continue
    const known = await findProduct(db, { partnerId, partnerDealId })
    const found = known ? implausiblePrices([entry], pricesOf(known.details), localized('price-before')) : []
    implausible.push(...found.map((value) => ({ ...value, index })))
  }
  return implausible
}

const COMPARED: Readonly<Record<string, Compare>> = {
  [productPull.name]: comparedWithProducts,
  [priceCalendar.name]: comparedWithPrices,
  [levelPriceCalendar.name]: comparedWithPrices,
}

/** Implausible values as the report of a pull lists them; `nameOf` gives the day or product of an entry. */
export const implausibleWarnings = (
  implausible: readonly ImplausibleValue[],
  nameOf: (index: number) => string,
): EntryProblem[] =>
  implausible
    .slice(0, MAX_ENTRY_PROBLEMS)
    .map(({ index, path, problem }) => ({ entry: echo(nameOf(index)), path, problem }))

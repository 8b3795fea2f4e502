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

/**
 * What looks like a mistake in the entries of an answer, on their own and compared with what is stored of their
 * products (REFERENCE "Values that look like mistakes"). Call it before the entries are stored.
 */
export async function implausibleValues(
  db: Db,
  partnerId: bigint,
  { name, implausible }: Pick<PartnerInterface, 'name' | 'implausible'>,
  answer: { readonly body: readonly Entry[]; readonly partnerDealId?: unknown },
): Promise<ImplausibleValue[]> {
  const entries = answer.body
  const inItself = implausible?.(entries) ?? []
  const compare = name === productPull.name ? comparedWithProducts : isCalendar(name) ? comparedWithPrices : undefined
  const stored = (await compare?.(db, partnerId, answer)) ?? []
  const isNew = ({ index, path }: ImplausibleValue) =>
    !inItself.some((known) => known.index === index && known.path === path)
  return [...inItself, ...stored.filter(isNew)]
}

const isCalendar = (name: string): boolean => name === priceCalendar.name || name === levelPriceCalendar.name

async function comparedWithPrices(
  db: Db,
  partnerId: bigint,
  { body, partnerDealId }: { readonly body: readonly Entry[]; readonly partnerDealId?: unknown },
): Promise<ImplausibleValue[]> {
  const id = filledText(partnerDealId ?? body[0]?.partnerDealId)
  if (id === undefined) return []
  return implausiblePrices(body, await usualPrices(db, { partnerId, partnerDealId: id }), localized('median-stored'))
}

/** Only open-date products have prices of their own. */
async function comparedWithProducts(
  db: Db,
  partnerId: bigint,
  { body }: { readonly body: readonly Entry[] },
): Promise<ImplausibleValue[]> {
  const implausible: ImplausibleValue[] = []
  for (const [index, entry] of body.entries()) {
    const partnerDealId = filledText(entry.partnerDealId)
    if (entry.mtPrice === undefined || partnerDealId === undefined) continue
    const known = await findProduct(db, { partnerId, partnerDealId })
    if (known)
      implausible.push(
        ...implausiblePrices([entry], pricesOf(known.details), localized('price-before')).map((value) => ({
          ...value,
          index,
        })),
      )
  }
  return implausible
}

/** Implausible values as the report of a pull lists them; `nameOf` gives the day or product of an entry. */
export const implausibleWarnings = (
  implausible: readonly ImplausibleValue[],
  nameOf: (index: number) => string,
): EntryProblem[] =>
  implausible
    .slice(0, MAX_ENTRY_PROBLEMS)
    .map(({ index, path, problem }) => ({ entry: echo(nameOf(index)), path, problem }))

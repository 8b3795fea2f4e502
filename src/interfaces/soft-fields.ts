import { z } from 'zod'
import { maybe, text } from '../lib/json/fields.ts'
import { LIST_LIMITS, listOf } from '../lib/json/lists.ts'
import { smallInt } from '../lib/json/lossless.ts'
import { readShape, type ShapeProblem } from '../lib/json/shape.ts'

/**
 * Fields of a product that bend: one that does not fit costs a warning, not the product. Nothing hangs on them but what a
 * buyer is told; prices, stock, dates, quantities, visitors, and the rules of refunds and vouchers stay strict. The
 * table of DECISIONS "Product fields that are read leniently" is compared with this one by a test.
 */
export const SOFT_FIELDS = {
  subTitle: 'nothing',
  servicePhones: 'the first 100 entries; an empty list where it is not a list',
  getInAddresses: 'the addresses that are texts, at most 100',
  orderCancelTime: 'nothing',
  dealImageInfos: 'the pictures that have an `imageUrl`, at most 5',
} as const satisfies Readonly<Record<string, string>>

const image = z.looseObject({ imageName: maybe(z.string()), imageUrl: text(), frontImage: maybe(z.unknown()) })

/** As the contract has them. */
const STRICT = {
  subTitle: maybe(z.string()),
  servicePhones: listOf('details', z.unknown()),
  getInAddresses: listOf('details', text()),
  orderCancelTime: maybe(
    smallInt().refine((minutes) => minutes > 30 && minutes <= 120, 'must be more than 30 and at most 120 minutes'),
  ),
  dealImageInfos: maybe(listOf('images', image)),
} satisfies Readonly<Record<keyof typeof SOFT_FIELDS, z.ZodType>>

/** The valid entries of a list. */
const usable = <Element extends z.ZodType>(element: Element, name: 'details' | 'images') =>
  (({ input }) =>
    (Array.isArray(input) ? input : [])
      .slice(0, LIST_LIMITS.details.most)
      .flatMap((value) => {
        const read = element.safeParse(value)
        return read.success ? [read.data] : []
      })
      .slice(0, LIST_LIMITS[name].most)) satisfies (context: { input: unknown }) => z.output<Element>[]

/** The same fields as they are read: invalid ones are left out. */
export const softFields = {
  subTitle: STRICT.subTitle.catch(undefined),
  servicePhones: STRICT.servicePhones.catch(usable(z.unknown(), 'details')),
  getInAddresses: STRICT.getInAddresses.catch(usable(text(), 'details')),
  orderCancelTime: STRICT.orderCancelTime.catch(undefined),
  dealImageInfos: STRICT.dealImageInfos.catch(usable(image, 'images')),
}

const strictFields = z.looseObject(STRICT)

/** Problems of the lenient fields of a product. */
export function softProblems(product: unknown): readonly ShapeProblem[] {
  const read = readShape(strictFields, product)
  return 'problems' in read ? read.problems : []
}

/** A product as it is kept: the complete entry, with the valid part of its lenient fields. */
export function withUsableFields<Raw extends object>(raw: Raw, parsed: Readonly<Record<string, unknown>>): Raw {
  const fields = Object.keys(SOFT_FIELDS).filter((name) => name in raw)
  return Object.fromEntries(
    Object.entries({ ...raw, ...Object.fromEntries(fields.map((name) => [name, parsed[name]])) }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as Raw
}

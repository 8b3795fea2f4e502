import { z } from 'zod'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { maybe, remark, smallInt, text } from '../../platform/lib/json/fields.ts'
import { LIST_LIMITS, listOf, readShape, type ShapeProblem } from '../../platform/lib/json/shape.ts'
import { type PartnerInterface, SUCCESS } from './interface.ts'

const coded = z.looseObject({ code: smallInt() })
const envelope = coded.extend({ describe: remark() })

export type Reading<Answer> =
  | { readonly outcome: 'success'; readonly answer: Answer }
  | {
      readonly outcome: 'pending' | 'failed'
      readonly code: number
      readonly meaning: string
      readonly describe: string
    }
  | { readonly outcome: 'invalid'; readonly problems: readonly ShapeProblem[] }

const BY_HUNDREDS: Readonly<Record<number, string>> = {
  2: 'price error',
  3: 'query error',
  4: 'create error',
  5: 'pay error',
  6: 'refund error',
}

/** An unknown code is explained by its hundred, if the interface has any: a 4xx says nothing about prices. */
function meaningOf({ failures, pending }: PartnerInterface, code: number): string {
  const hundred = Math.floor(code / 100)
  const own = Object.keys({ ...failures, ...pending }).some((known) => Math.floor(Number(known) / 100) === hundred)
  return failures[code] ?? (own ? BY_HUNDREDS[hundred] : undefined) ?? 'unknown error'
}

/** The fields of a JSON object; empty for anything else. */
export const jsonFields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

/** Describe texts without information. Others have some: programs exist that send code 200 with "BA验证错误". */
const NOTHING_TO_ADD = ['', 'success', 'ok', '成功']

/** The describe text of a response; undefined if it says nothing. */
export function remarkIn(json: unknown): string | undefined {
  const { describe } = jsonFields(json)
  return typeof describe === 'string' && !NOTHING_TO_ADD.includes(describe.trim().toLowerCase()) ? describe : undefined
}

/**
 * The fields of an interface are in `body`, as partners in the field send them, or beside code and describe (REFERENCE
 * "Endpoints of area B"): without a body the envelope is taken for it. A list must be there, unless the interface
 * allows an empty one to be left out and `describe` gives no other reason.
 */
export function withBody(definition: PartnerInterface, json: unknown): Readonly<Record<string, unknown>> {
  const answer = jsonFields(json)
  const { body } = answer
  if (body !== undefined && body !== null) return answer
  const { body: expected } = definition.answer.shape
  if (!(expected instanceof z.ZodArray)) return { ...answer, body: answer }
  return definition.listMayBeMissing && remarkIn(answer) === undefined
    ? { ...answer, body: [] }
    : { ...answer, body: undefined }
}

/** Whether the partner reports success, whatever else is wrong with its answer. */
export function saysSuccess(json: unknown): boolean {
  const read = readShape(coded, json)
  return 'value' in read && read.value.code === SUCCESS
}

/** Reads the JSON of an answer, from parseLossless, as one of the interface that was called. */
export function readAnswer<Definition extends PartnerInterface>(
  definition: Definition,
  json: unknown,
): Reading<z.output<Definition['answer']>> {
  const enveloped = readShape(envelope, json)
  if ('problems' in enveloped) return { outcome: 'invalid', problems: enveloped.problems }
  const { code, describe = '' } = enveloped.value
  const pending = definition.pending[code]
  if (pending !== undefined) return { outcome: 'pending', code, meaning: pending, describe }
  if (code !== SUCCESS) return { outcome: 'failed', code, meaning: meaningOf(definition, code), describe }
  const read = readShape(definition.answer, withBody(definition, json))
  if ('problems' in read) return { outcome: 'invalid', problems: read.problems }
  return { outcome: 'success', answer: read.value as z.output<Definition['answer']> }
}

const image = z.looseObject({ imageName: maybe(z.string()), imageUrl: text(), frontImage: maybe(z.unknown()) })

/**
 * Product fields that are read leniently, as the contract defines them: an invalid one causes a warning, and its usable
 * part is stored. They only affect what buyers see; prices, stock, dates, quantities, visitors, and the rules for refunds
 * and vouchers stay strict.
 */
const STRICT = {
  subTitle: maybe(z.string()),
  servicePhones: listOf('details', z.unknown()),
  getInAddresses: listOf('details', text()),
  orderCancelTime: maybe(
    smallInt().refine(
      (minutes) => minutes > 30 && minutes <= 120,
      problem('must-be-minutes', { least: 30, most: 120 }),
    ),
  ),
  dealImageInfos: maybe(listOf('images', image)),
}

const usable = <Element extends z.ZodType>(element: Element, name: 'details' | 'images') =>
  (({ input }) =>
    (Array.isArray(input) ? input : [])
      .slice(0, LIST_LIMITS.details)
      .flatMap((value) => {
        const read = element.safeParse(value)
        return read.success ? [read.data] : []
      })
      .slice(0, LIST_LIMITS[name])) satisfies (context: { input: unknown }) => z.output<Element>[]

/** Schemas that leave out what is invalid. */
export const lenientFields = {
  subTitle: STRICT.subTitle.catch(undefined),
  servicePhones: STRICT.servicePhones.catch(usable(z.unknown(), 'details')),
  getInAddresses: STRICT.getInAddresses.catch(usable(text(), 'details')),
  orderCancelTime: STRICT.orderCancelTime.catch(undefined),
  dealImageInfos: STRICT.dealImageInfos.catch(usable(image, 'images')),
}

const strictFields = z.looseObject(STRICT)

export function lenientProblems(product: unknown): readonly ShapeProblem[] {
  const read = readShape(strictFields, product)
  return 'problems' in read ? read.problems : []
}

/** A product as stored: the complete entry, with the valid part of its lenient fields. */
export function withUsableFields<Raw extends object>(raw: Raw, parsed: Readonly<Record<string, unknown>>): Raw {
  const fields = Object.keys(STRICT).filter((name) => name in raw)
  return Object.fromEntries(
    Object.entries({ ...raw, ...Object.fromEntries(fields.map((name) => [name, parsed[name]])) }).filter(
      ([, value]) => value !== undefined,
    ),
  ) as Raw
}

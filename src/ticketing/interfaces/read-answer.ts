import { z } from 'zod'
import { remark, smallInt } from '../../platform/lib/json/fields.ts'
import { readShape, type ShapeProblem } from '../../platform/lib/json/shape.ts'
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

/** The fields of an answer about one order. Without a body they are beside the code. */
export const fieldsOfAnswer = (json: unknown): Readonly<Record<string, unknown>> => {
  const { body } = jsonFields(json)
  return jsonFields(body ?? json)
}

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

/** Cache: of each schema, the strict schemas of its lenient fields. */
const lenientFields = new WeakMap<z.ZodObject, z.ZodObject>()

/** The fields of an object that decide nothing: declared with `catch`, so that an invalid one costs only itself. */
function lenientFieldsOf(schema: z.ZodObject): z.ZodObject {
  const known = lenientFields.get(schema)
  if (known) return known
  const strict = Object.entries(schema.shape).flatMap(([name, field]) =>
    field instanceof z.ZodCatch ? [[name, field.unwrap()]] : [],
  )
  const fields = z.looseObject(Object.fromEntries(strict))
  lenientFields.set(schema, fields)
  return fields
}

/** Problems with the lenient fields of an object that is accepted anyway. */
export function lenientProblems(schema: z.ZodObject, value: unknown): readonly ShapeProblem[] {
  const read = readShape(lenientFieldsOf(schema), value)
  return 'problems' in read ? read.problems : []
}

/** Problems with the lenient fields of a valid answer: of its body, or of each entry of its list. */
export function answerWarnings({ answer }: PartnerInterface, json: unknown): ShapeProblem[] {
  const at = (place: string, problems: readonly ShapeProblem[]) =>
    problems.map(({ path, problem }) => ({ path: `${place}.${path}`, problem }))
  const { body } = answer.shape
  if (body instanceof z.ZodObject) return at('body', lenientProblems(body, fieldsOfAnswer(json)))
  const { body: list } = jsonFields(json)
  const element = body instanceof z.ZodArray ? body.element : undefined
  if (!(element instanceof z.ZodObject) || !Array.isArray(list)) return []
  return list.flatMap((entry, index) => at(`body[${index}]`, lenientProblems(element, entry)))
}

/** An entry as stored: complete, with the valid part of its lenient fields. */
export function withUsableFields<Raw extends object>(
  schema: z.ZodObject,
  raw: Raw,
  parsed: Readonly<Record<string, unknown>>,
): Raw {
  const names = Object.keys(lenientFieldsOf(schema).shape).filter((name) => name in raw)
  const usable = Object.fromEntries(names.map((name) => [name, parsed[name]]))
  return Object.fromEntries(Object.entries({ ...raw, ...usable }).filter(([, value]) => value !== undefined)) as Raw
}

import { z } from 'zod'
import { numericText, oneOf, smallInt } from '../../../platform/lib/json/fields.ts'
import { prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { problemsText, readShape } from '../../../platform/lib/json/shape.ts'
import type { Detail } from '../../../platform/lib/localized-text.ts'
import { type Locale, translator } from '../../../platform/lib/web/locale.ts'
import {
  INTERFACES,
  type InterfaceName,
  type PartnerInterface,
  readAnswer,
  SUCCESS,
} from '../../../ticketing/interfaces/index.ts'
import { BA_FAILED, failureCodeOf, type NoticeName } from '../../../ticketing/mws-wire/index.ts'
import { flattened, type SchemaField, schemaFields } from './field.ts'
import { codeMeaning, exampleFor, meaningOf, valuesOf } from './meanings/index.ts'
import { conditionOf } from './meanings/values.ts'
import { type Direction, docsAnchor, NOTICES } from './notices.ts'

/** A response other than success: a failure, or "not yet". */
interface FailureExample {
  /** When it is sent, in the reader's language. */
  readonly when: string
  readonly example: string
}

const PARTNER_ID = String(exampleFor('answer.partnerId'))

const answer = (code: number, describe: string): string => prettyLossless({ code, describe, partnerId: PARTNER_ID })

/** One example for each code of the interface. */
function partnerFailures({ pending, failures }: PartnerInterface, locale: Locale): FailureExample[] {
  return [...Object.entries(pending), ...Object.entries(failures)].map(([code, meaning]) => ({
    when: codeMeaning(meaning, locale),
    example: answer(Number(code), meaning),
  }))
}

/** The platform's responses to a wrong signature and to a notice that lacks a field. */
function ourRefusals(
  path: string,
  shape: z.ZodType,
  notice: Readonly<Record<string, unknown>>,
  locale: Locale,
): FailureExample[] {
  const t = translator(locale)
  const { body: _, ...withoutBody } = notice
  const read = readShape(shape, withoutBody)
  const problem = 'problems' in read ? String(problemsText(read.problems)) : ''
  return [
    { when: t('sandbox.docs.when_signature'), example: answer(300, BA_FAILED) },
    { when: t('sandbox.docs.when_field'), example: answer(failureCodeOf(path), problem) },
  ]
}

export interface ReferenceSection {
  readonly name: InterfaceName | NoticeName
  readonly path: string
  readonly parts: readonly Part[]
  readonly codes: readonly { readonly code: number; readonly kind: 'pending' | 'failure'; readonly meaning: string }[]
}

interface Message {
  readonly name: ReferenceSection['name']
  readonly direction: Direction
  readonly fields: readonly SchemaField[]
}

const requestOf = ({ request }: PartnerInterface) => schemaFields(z.object({ partnerId: numericText(), body: request }))

const answerOf = (entry: PartnerInterface): SchemaField[] => {
  const shape = { code: smallInt(), describe: z.string(), partnerId: z.string(), ...entry.answer.shape }
  // A success may leave `body` out if nothing in it is required.
  const isNeeded = readAnswer(entry, { code: SUCCESS }).outcome !== 'success'
  return schemaFields(z.object(shape)).map((field) =>
    field.name === 'body' ? { ...field, required: isNeeded } : field,
  )
}

const othersThan300 = (path: string): number[] => (failureCodeOf(path) === 300 ? [] : [failureCodeOf(path)])

const ourAnswer = (path: string) =>
  schemaFields(z.object({ code: oneOf(200, 300, ...othersThan300(path)), describe: z.string(), partnerId: z.string() }))

const OUR_ANSWER = schemaFields(z.object({ code: smallInt(), describe: z.string(), partnerId: numericText() }))

/** A stored message: of an interface, a notice, or our response to a notice. */
export type MessageName =
  | { readonly name: string; readonly direction: Direction }
  /** `reason`: why the call was refused, if it was. */
  | { readonly direction: 'our-answer'; readonly reason: Detail | null }

const fieldsOf = (message: MessageName): readonly SchemaField[] => {
  if (message.direction === 'our-answer') return OUR_ANSWER
  const { name, direction } = message
  const notice = NOTICES.find((candidate) => candidate.name === name)
  if (notice) return direction === 'notice' ? schemaFields(notice.shape) : []
  const entry = INTERFACES.find((candidate) => candidate.name === name)
  if (!entry) return []
  if (direction === 'request') return requestOf(entry)
  const answer = answerOf(entry)
  // Partners may send the fields of `body` next to code and describe.
  return [...answer, ...(answer.find((field) => field.name === 'body' && !field.list)?.fields ?? [])]
}

/** Cache: by message, one for each schema. */
const FIELDS_OF_MESSAGE = new Map<string, readonly SchemaField[]>()

/** The fields in a message's schema; empty for a message that is not part of the contract. */
export function fieldsOfMessage(message: MessageName): readonly SchemaField[] {
  const key = 'name' in message ? `${message.name}.${message.direction}` : message.direction
  const known = FIELDS_OF_MESSAGE.get(key)
  if (known) return known
  const fields = fieldsOf(message)
  if (fields.length > 0) FIELDS_OF_MESSAGE.set(key, fields)
  return fields
}

/** A message with all its fields; the first variant if there are several. */
function exampleOf({ name, direction, fields }: Message): Record<string, unknown> {
  const chosen = fields.filter(({ when }) => when === undefined || when.value === firstValue(fields, when.field))
  return Object.fromEntries(
    chosen.map((field) => {
      const example = exampleFor(docsAnchor(name, direction, field.path))
      if (example !== undefined) return [field.name, example]
      const value = exampleOf({ name, direction, fields: field.fields })
      return [field.name, field.list ? [value] : value]
    }),
  )
}

const firstValue = (fields: readonly SchemaField[], name: string): string =>
  String(fields.find((field) => field.name === name)?.values[0])

/** One message of an interface or notice: its fields with their meanings, and a complete example. */
export type Part = ReturnType<typeof partOf>

function partOf(message: Message, locale: Locale, failures: readonly FailureExample[] = []) {
  const { name, direction, fields } = message
  return {
    direction,
    anchor: docsAnchor(name, direction, ''),
    fields: fields.flatMap(flattened).map((field) => {
      const anchor = docsAnchor(name, direction, field.path)
      const condition = field.requiredWhen ?? conditionOf(anchor, locale) ?? ''
      const [meaning, meanings] = [meaningOf(anchor, locale), field.values.length > 0 ? valuesOf(anchor, locale) : []]
      // `depth`: number of enclosing objects.
      return { ...field, anchor, meaning, meanings, condition, depth: field.path.split('.').length - 1 }
    }),
    example: prettyLossless(exampleOf(message)),
    failures,
  }
}

function codesOf({ pending, failures }: PartnerInterface, locale: Locale): ReferenceSection['codes'] {
  const rows = (codes: Readonly<Record<number, string>>, kind: 'pending' | 'failure') =>
    Object.entries(codes).map(([code, text]) => ({ code: Number(code), kind, meaning: codeMeaning(text, locale) }))
  return [...rows(pending, 'pending'), ...rows(failures, 'failure')]
}

const interfaceSection = (entry: PartnerInterface & { name: InterfaceName }, locale: Locale): ReferenceSection => ({
  name: entry.name,
  path: entry.defaultPath,
  parts: [
    partOf({ name: entry.name, direction: 'request', fields: requestOf(entry) }, locale),
    partOf({ name: entry.name, direction: 'answer', fields: answerOf(entry) }, locale, partnerFailures(entry, locale)),
  ],
  codes: codesOf(entry, locale),
})

/** The field reference (REFERENCE "Payloads"), generated from the schemas by which calls and notices are parsed. */
export function fieldReference(locale: Locale): { notices: ReferenceSection[]; interfaces: ReferenceSection[] } {
  const notices = NOTICES.map(({ name, path, shape }) => {
    const notice = { name, direction: 'notice', fields: schemaFields(shape) } as const
    const refusals = ourRefusals(path, shape, exampleOf(notice), locale)
    const answer = partOf({ name, direction: 'answer', fields: ourAnswer(path) }, locale, refusals)
    return { name, path, parts: [partOf(notice, locale), answer], codes: [] }
  })
  return { notices, interfaces: INTERFACES.map((entry) => interfaceSection(entry, locale)) }
}

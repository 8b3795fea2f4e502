import { z } from 'zod'
import { numericText, oneOf, smallInt } from '../../../platform/lib/json/fields.ts'
import { prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { problemsText, readShape } from '../../../platform/lib/json/shape.ts'
import type { Detail } from '../../../platform/lib/localized-text.ts'
import { type Locale, perLocale, translator } from '../../../platform/lib/web/locale.ts'
import {
  INTERFACES,
  type InterfaceName,
  type PartnerInterface,
  readAnswer,
  SUCCESS,
} from '../../../ticketing/interfaces/index.ts'
import { BA_FAILED, failureCodeOf, type NoticeName } from '../../../ticketing/mws-wire/index.ts'
import { flattened, type SchemaField, schemaFields } from './field.ts'
import { conditionOf, exampleFor, meaningOf, translated, valueMeaningsOf } from './meanings.ts'
import { type Direction, docsAnchor, NOTICES } from './notices.ts'

/** A response other than success: a failure, or "not yet". */
interface FailureExample {
  /** When it is sent, in the reader's language. */
  readonly when: string
  readonly example: string
}

const PARTNER_ID = String(exampleFor('answer.partnerId'))

const answer = (code: number, describe: string): string => prettyLossless({ code, describe, partnerId: PARTNER_ID })

/** The platform's responses to a wrong signature and to a notice that lacks a field. */
function ourRefusals({ path, shape }: (typeof NOTICES)[number], notice: object, locale: Locale): FailureExample[] {
  const t = translator(locale)
  const read = readShape(shape, { ...notice, body: undefined })
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

const answerFields = (entry: PartnerInterface): SchemaField[] => {
  const shape = { code: smallInt(), describe: z.string(), partnerId: z.string(), ...entry.answer.shape }
  // A success may leave `body` out if nothing in it is required.
  const isNeeded = readAnswer(entry, { code: SUCCESS }).outcome !== 'success'
  return schemaFields(z.object(shape)).map((field) =>
    field.name === 'body' ? { ...field, required: isNeeded } : field,
  )
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

/** A field with its texts in the reader's language. */
export interface ShownField extends SchemaField {
  readonly anchor: string
  readonly meaning: string
  readonly valueMeanings: readonly { readonly value: string; readonly meaning: string }[]
  readonly condition: string
  /** The number of enclosing objects. */
  readonly depth: number
  readonly fields: readonly ShownField[]
}

function shownField(message: Message, field: SchemaField, locale: Locale): ShownField {
  const anchor = docsAnchor(message.name, message.direction, field.path)
  return {
    ...field,
    anchor,
    meaning: meaningOf(anchor, locale),
    valueMeanings: valueMeaningsOf(anchor, field.values, locale),
    condition: field.requiredWhen ?? conditionOf(anchor, locale),
    depth: field.path.split('.').length - 1,
    fields: field.fields.map((inner) => shownField(message, inner, locale)),
  }
}

/** One message of an interface or notice: its fields with their meanings, and a complete example. */
export type Part = ReturnType<typeof partOf>

function partOf(message: Message, locale: Locale, failures: readonly FailureExample[] = []) {
  const { name, direction, fields } = message
  return {
    direction,
    anchor: docsAnchor(name, direction, ''),
    fields: fields.map((field) => shownField(message, field, locale)).flatMap(flattened),
    example: prettyLossless(exampleOf(message)),
    failures,
  }
}

function interfaceSection(entry: PartnerInterface & { name: InterfaceName }, locale: Locale): ReferenceSection {
  const { name, pending, failures } = entry
  const codes = [...Object.entries(pending), ...Object.entries(failures)].map(([code, english]) => ({
    code: Number(code),
    english,
    meaning: translated(english, locale),
  }))
  const examples = codes.map(({ code, english, meaning }) => ({ when: meaning, example: answer(code, english) }))
  const request = schemaFields(z.object({ partnerId: numericText(), body: entry.request }))
  return {
    name,
    path: entry.defaultPath,
    parts: [
      partOf({ name, direction: 'request', fields: request }, locale),
      partOf({ name, direction: 'answer', fields: answerFields(entry) }, locale, examples),
    ],
    codes: codes.map(({ code, meaning }) => ({ code, kind: code in pending ? 'pending' : 'failure', meaning })),
  }
}

function noticeSection(entry: (typeof NOTICES)[number], locale: Locale): ReferenceSection {
  const { name, path, shape } = entry
  const notice = { name, direction: 'notice', fields: schemaFields(shape) } as const
  const code = oneOf(200, 300, ...(failureCodeOf(path) === 300 ? [] : [failureCodeOf(path)]))
  const fields = schemaFields(z.object({ code, describe: z.string(), partnerId: z.string() }))
  const refusals = ourRefusals(entry, exampleOf(notice), locale)
  return {
    ...{ name, path, codes: [] },
    parts: [partOf(notice, locale), partOf({ name, direction: 'answer', fields }, locale, refusals)],
  }
}

/**
 * The field reference (REFERENCE "Payloads"), generated from the schemas by which calls and notices are parsed.
 * Cache: made on first use: that takes 30 ms, for which start-up need not wait.
 */
export const fieldReference = perLocale((locale) => ({
  notices: NOTICES.map((entry) => noticeSection(entry, locale)),
  interfaces: INTERFACES.map((entry) => interfaceSection(entry, locale)),
}))

const OUR_ANSWER = schemaFields(z.object({ code: smallInt(), describe: z.string(), partnerId: numericText() }))

/** A stored message: of an interface, a notice, or our response to a notice. */
export type MessageName =
  | { readonly name: string; readonly direction: Direction }
  /** `reason`: why the call was refused, if it was. */
  | { readonly direction: 'our-answer'; readonly reason: Detail | null }

/** The fields in a message's schema; empty for a message that is not part of the contract. */
export function fieldsOfMessage(message: MessageName): readonly SchemaField[] {
  if (message.direction === 'our-answer') return OUR_ANSWER
  const { notices, interfaces } = fieldReference('en')
  const section = [...notices, ...interfaces].find(({ name }) => name === message.name)
  const part = section?.parts.find(({ direction }) => direction === message.direction)
  const fields = part?.fields.filter(({ depth }) => depth === 0) ?? []
  // Partners may send the fields of `body` next to code and describe.
  const body = message.direction === 'answer' && fields.find(({ name, list }) => name === 'body' && !list)
  return body ? [...fields, ...body.fields] : fields
}

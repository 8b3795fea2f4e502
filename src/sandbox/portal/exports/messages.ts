import type { Locale } from '../../../platform/lib/web/locale.ts'
import type { Part, ReferenceSection } from '../docs/reference.ts'
import { objectSchema, type Schema } from './json-schema.ts'

const DIRECTION = { request: 'Request', answer: 'Response', notice: 'Notice' } as const

const pascal = (name: string): string => name.replace(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase())

/** `OrderCreateRequest`: the name of a message in every export. */
export const schemaName = ({ name }: ReferenceSection, { direction }: Part): string =>
  pascal(name) + DIRECTION[direction]

/** `orderCreate` */
export const operationName = ({ name }: ReferenceSection): string => {
  const text = pascal(name)
  return text.charAt(0).toLowerCase() + text.slice(1)
}

const SUCCESS = [200, '200']

/** A response that reports a failure, or that the result is still to come. */
export const FAILURE: Schema = {
  type: 'object',
  properties: {
    code: { type: ['integer', 'string'], not: { enum: SUCCESS } },
    describe: { type: 'string' },
    partnerId: { type: ['string', 'integer'] },
  },
  required: ['code'],
}

export const FAILURE_NAME = 'Failure'

/**
 * The schemas of a section's messages by their names; a response of a seller's is either a success with its fields or
 * a failure, which `failure` refers to.
 */
export function schemasOf(section: ReferenceSection, locale: Locale, failure: Schema): Record<string, Schema> {
  const isInterface = section.parts.some(({ direction }) => direction === 'request')
  return Object.fromEntries(
    section.parts.map((part) => {
      const { name } = section
      const top = part.fields.filter(({ depth }) => depth === 0)
      const schema = objectSchema(top, { name, direction: part.direction, locale })
      const isSellers = isInterface && part.direction === 'answer'
      const success = { ...schema, properties: { ...(schema.properties as object), code: { enum: SUCCESS } } }
      return [schemaName(section, part), isSellers ? { anyOf: [success, failure] } : schema]
    }),
  )
}

/** Every message as a JSON Schema, in one document. */
export function jsonSchemas(sections: readonly ReferenceSection[], locale: Locale): Schema {
  const failure = { $ref: `#/$defs/${FAILURE_NAME}` }
  const all = sections.map((section) => schemasOf(section, locale, failure))
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: Object.assign({ [FAILURE_NAME]: FAILURE }, ...all),
  }
}

import { parseLossless } from '../../../platform/lib/json/lossless.ts'
import type { Part, ReferenceSection } from '../docs/reference.ts'
import type { Definitions } from './collections.ts'
import { FAILURE, FAILURE_NAME, operationName, type Schema, schemaName, schemasOf } from './json-schema.ts'

interface Described extends Definitions {
  readonly title: string
  readonly server: Schema
  readonly sections: readonly ReferenceSection[]
}

const ref = (kind: 'schemas' | 'parameters' | 'responses', name: string) => ({ $ref: `#/components/${kind}/${name}` })

/** Keeps 64-bit ids exact. */
function exampleValue(text: string): unknown {
  const parsed = parseLossless(Buffer.from(text))
  if ('problem' in parsed) throw new Error(String(parsed.problem))
  return parsed.value
}

const json = (section: ReferenceSection, part: Part) => ({
  schema: ref('schemas', schemaName(section, part)),
  examples: {
    success: { value: exampleValue(part.example) },
    ...Object.fromEntries(
      part.failures.map(({ when, example }, place) => [
        `failure${place + 1}`,
        { summary: when, value: exampleValue(example) },
      ]),
    ),
  },
})

function operation(section: ReferenceSection, { titleOf, t }: Described): Schema {
  const [sent, answer] = section.parts
  if (!sent || !answer) throw new Error(`${section.name} has no two messages`)
  const content = (part: Part) => ({ content: { 'application/json': json(section, part) } })
  return {
    operationId: operationName(section),
    summary: titleOf(section.name),
    parameters: [ref('parameters', 'PartnerId'), ref('parameters', 'Date')],
    requestBody: { required: true, ...content(sent) },
    responses: {
      200: { description: t('sandbox.exports.answer'), ...content(answer) },
      ...(sent.direction === 'notice' && { 429: ref('responses', 'Later'), 503: ref('responses', 'Later') }),
    },
  }
}

/** OpenAPI has no scheme for our signature, so it is described in words. */
const components = ({ sections, t }: Described): Schema => ({
  securitySchemes: {
    mws: { type: 'apiKey', in: 'header', name: 'Authorization', description: t('sandbox.exports.mws') },
  },
  parameters: {
    PartnerId: {
      ...{ name: 'PartnerId', in: 'header', required: true, description: t('sandbox.exports.partner_id') },
      schema: { type: 'string', pattern: '^\\d+$' },
      example: '7001',
    },
    Date: {
      ...{ name: 'Date', in: 'header', required: true, description: t('sandbox.exports.date') },
      schema: { type: 'string' },
      example: 'Tue, 05 May 2015 06:11:34 GMT',
    },
  },
  responses: {
    Later: {
      description: t('sandbox.exports.later'),
      headers: { 'Retry-After': { schema: { type: 'integer' } } },
      content: { 'application/json': { schema: ref('schemas', FAILURE_NAME) } },
    },
  },
  schemas: Object.assign(
    { [FAILURE_NAME]: FAILURE },
    ...sections.map((section) => schemasOf(section, (name) => ref('schemas', name))),
  ),
})

export const openApi = (described: Described): Schema => ({
  openapi: '3.1.0',
  info: { title: described.title, version: '1', description: described.t('sandbox.exports.about') },
  servers: [described.server],
  security: [{ mws: [] }],
  paths: Object.fromEntries(
    described.sections.map((section) => [section.path, { post: operation(section, described) }]),
  ),
  components: components(described),
})

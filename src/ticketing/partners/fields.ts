import { z } from 'zod'
import type { Fields } from '../../platform/db/record-fields.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { positiveId } from '../../platform/lib/json/fields.ts'
import { shownName } from '../../platform/lib/json/input.ts'
import { mapOf } from '../../platform/lib/json/shape.ts'
import { endpointUrl } from '../../platform/lib/web/web-url.ts'

export const STAGES = ['sandbox', 'live'] as const

// It is part of the Authorization header, where a colon ends it (REFERENCE "Signature", rule 3).
const CLIENT_ID = /^[\x21-\x39\x3b-\x7e]{1,64}$/
const INTERFACE_NAME = /^[a-z][a-z0-9-]{0,63}$/

const name = shownName(100)
const baseUrl = endpointUrl.refine((url) => !url.includes('?'), problem('must-have-no-query')).nullable()
const interfaceUrls = mapOf(
  'registered',
  z.string().regex(INTERFACE_NAME, problem('must-be-interface-name')),
  endpointUrl,
).meta({ flag: 'interface-url', type: 'object', additionalProperties: { type: 'string' } })

/** The fields of a partner that operators set. How to add one: src/authorization/registry/README.md. */
export const PARTNER_FIELDS = {
  partner_id: {
    created: positiveId.optional(),
    kept: z.coerce.bigint(), // pg gives it as text
  },
  client_id: {
    created: z.string().regex(CLIENT_ID, problem('must-be-client-id')).optional(),
    kept: z.string(),
  },
  name: { created: name, changed: name, kept: z.string() },
  base_url: { created: baseUrl.default(null), changed: baseUrl, kept: z.string().nullable() },
  interface_urls: {
    created: interfaceUrls.default({}),
    changed: interfaceUrls,
    kept: z.record(z.string(), z.string()),
  },
  stage: { created: z.enum(STAGES).default('sandbox'), kept: z.enum(STAGES) },
  encrypts_calls: { changed: z.boolean().meta({ flag: 'encrypt-calls' }), kept: z.boolean() },
} as const satisfies Fields

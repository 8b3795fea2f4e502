import { z } from 'zod'
import { filterText, idKey, momentKey, pageInput } from '../../platform/db/page.ts'
import { shapeOf } from '../../platform/db/record-fields.ts'
import { AES_KEY } from '../../platform/lib/crypto/aes-body.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { positiveId } from '../../platform/lib/json/fields.ts'
import { visibleLine } from '../../platform/lib/json/input.ts'
import { endpointUrl } from '../../platform/lib/web/web-url.ts'
import { PARTNER_FIELDS, STAGES } from './fields.ts'

/** Partners as the admin routes and the command line take and give them. Names are those of the columns. */

const STATUSES = ['active', 'suspended'] as const
export const CONTACT_ROLES = ['product', 'business'] as const

/** The largest that databases and other languages can hold: 2^63 - 1. */
export const LAST_PARTNER_ID = 2n ** 63n - 1n

export const onePartner = z.strictObject({ partner_id: positiveId })
export type OnePartner = z.output<typeof onePartner>

/** Somebody to inform about the integration, by mail and, if there is one, by webhook. */
export const contact = z.strictObject({
  name: visibleLine(100),
  mail: z.string().max(254).regex(z.regexes.email, problem('must-be-mail')),
  webhook_url: endpointUrl.nullable().default(null),
})
export type Contact = z.output<typeof contact>

export const contactRole = z.enum(CONTACT_ROLES)

export const contactOfRole = contact.extend({ role: contactRole })
export type ContactOfRole = z.output<typeof contactOfRole>

export type ContactRole = (typeof CONTACT_ROLES)[number]

/** A partner to be created, by default in stage sandbox. */
export const newPartner = z.strictObject({
  ...shapeOf(PARTNER_FIELDS, 'created'),
  contacts: z
    .strictObject({ product: contact.optional(), business: contact.optional() })
    .default({})
    .meta({ apiOnly: true }),
})
export type NewPartner = z.output<typeof newPartner>

/** Changes the fields that are given; `interface_urls` replaces the whole list. Encrypting calls takes an AES key. */
export const partnerChanges = z.strictObject(shapeOf(PARTNER_FIELDS, 'changed')).partial()
export type PartnerChanges = z.output<typeof partnerChanges>

export const aesKeyInput = z.strictObject({
  aes_key: z.string().regex(AES_KEY, problem('must-be-aes-key')).meta({ flag: 'key', secret: true }),
})
export type AesKeyInput = z.output<typeof aesKeyInput>

export const stageChange = z.strictObject({ stage: z.enum(STAGES) })
export type StageChange = z.output<typeof stageChange>

const { partner_id, client_id, name, stage, base_url, interface_urls, ...others } = shapeOf(PARTNER_FIELDS, 'kept')

export const partner = z.object({
  partner_id,
  client_id,
  name,
  status: z.enum(STATUSES),
  stage,
  /** Interfaces without a URL of their own are below it. */
  base_url,
  /** Interface name → URL. */
  interface_urls,
  contacts: z.partialRecord(
    contactRole,
    z.object({ name: z.string(), mail: z.string(), webhook_url: z.string().nullable() }),
  ),
  /** When the key that bodies are encrypted with was set; null without one. */
  aes_key_set_at: z.date().nullable(),
  ...others,
  created_at: z.date(),
  updated_at: z.date(),
})
export type Partner = z.output<typeof partner>
export type PartnerStage = Partner['stage']

/** A page of partners, by created_at and partner_id. Texts match the beginning. */
export const partnerFilter = z.strictObject({
  name: filterText(100).optional(),
  client_id: filterText(128).optional(),
  stage: partner.shape.stage.optional(),
  status: partner.shape.status.optional(),
  ...pageInput(z.tuple([momentKey, idKey])),
})
export type PartnerFilter = z.output<typeof partnerFilter>

// From a JSON aggregate, in which timestamps are text.
const dateOrNull = z.union([z.null(), z.coerce.date()])

/** A live clientSecret as operators see it. */
export const secretDates = z.object({
  secret_id: z.string(),
  /** Whether calls to the partner are signed with it; one secret is. */
  signs: z.boolean(),
  created_at: z.coerce.date(),
  /** Null until another secret has taken over signing. */
  ends_at: dateOrNull,
  /** To the minute; null: never. */
  last_used_at: dateOrNull,
})

/** A partner with the dates of its live secrets, the newer one first. */
export type ShownPartner = Partner & { readonly secrets: readonly z.output<typeof secretDates>[] }

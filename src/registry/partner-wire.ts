import { z } from 'zod'
import { AES_KEY } from '../lib/crypto/aes-body.ts'
import { mapOf } from '../lib/json/lists.ts'
import { int64 } from '../lib/json/lossless.ts'
import { visibleLine } from '../lib/visible.ts'
import { endpointUrl } from './wire.ts'

/** What the admin routes and the command line take and give about partners. Names are those of the tables' columns. */

const STATUSES = ['active', 'suspended'] as const
const STAGES = ['sandbox', 'live'] as const
export const CONTACT_ROLES = ['product', 'business'] as const

// It stands in the Authorization header, where a colon ends it (source, signature rule 3).
const CLIENT_ID = /^[\x21-\x39\x3b-\x7e]{1,64}$/
const INTERFACE_NAME = /^[a-z][a-z0-9-]{0,63}$/

/** A PartnerId as number or numeric text: 64 bits, kept exact. */
export const partnerId = int64().refine((id) => id > 0n, 'must be at least 1')

/** The largest that a database and other languages hold: 2^63 - 1. */
export const LAST_PARTNER_ID = 2n ** 63n - 1n

/** The PartnerId that a path names; 0, which no partner has, for what is no number. */
export const readPartnerId = (text: string): bigint => (/^\d{1,19}$/.test(text) ? BigInt(text) : 0n)

/** Whom to tell about the integration, by mail and, if there is one, over a webhook. */
export const contact = z.strictObject({
  name: visibleLine(100),
  mail: z.string().max(254).regex(z.regexes.email, 'must be a mail address: someone@example.com'),
  webhook_url: endpointUrl.nullable().default(null),
})
export type Contact = z.output<typeof contact>

export type ContactRole = (typeof CONTACT_ROLES)[number]

const fields = {
  name: visibleLine(100),
  base_url: endpointUrl.refine((url) => !url.includes('?'), 'must not have a query').nullable(),
  interface_urls: mapOf(
    'registered',
    z.string().regex(INTERFACE_NAME, 'is not the name of an interface, such as order-create'),
    endpointUrl,
  ),
}

/** A partner to be created. It begins in the sandbox unless said otherwise. */
export const newPartner = z.strictObject({
  partner_id: partnerId.optional(),
  client_id: z
    .string()
    .regex(CLIENT_ID, 'must have 1 to 64 visible ASCII characters, without white space and colons')
    .optional(),
  ...fields,
  stage: z.enum(STAGES).default('sandbox'),
  base_url: fields.base_url.default(null),
  interface_urls: fields.interface_urls.default({}),
  contacts: z.strictObject({ product: contact.optional(), business: contact.optional() }).default({}),
})
export type NewPartner = z.output<typeof newPartner>

/** What may be changed later: only the fields that are given; `interface_urls` replaces the whole list. Calls are encrypted with an AES key only. */
export const partnerChanges = z.strictObject({ ...fields, encrypts_calls: z.boolean() }).partial()
export type PartnerChanges = z.output<typeof partnerChanges>

export const aesKeyInput = z.strictObject({
  aes_key: z.string().regex(AES_KEY, 'must be 16 printable ASCII characters, or 32 hex digits'),
})
export type AesKeyInput = z.output<typeof aesKeyInput>

export const stageChange = z.strictObject({ stage: z.enum(STAGES) })
export type StageChange = z.output<typeof stageChange>

/** A partner as it is kept and shown. */
export const partner = z.object({
  partner_id: z.coerce.bigint(), // pg gives it as text
  client_id: z.string(),
  name: z.string(),
  status: z.enum(STATUSES),
  stage: z.enum(STAGES),
  /** Interfaces without a URL of their own are found below it. */
  base_url: z.string().nullable(),
  /** Interface name → URL. */
  interface_urls: z.record(z.string(), z.string()),
  contacts: z.partialRecord(
    z.enum(CONTACT_ROLES),
    z.object({ name: z.string(), mail: z.string(), webhook_url: z.string().nullable() }),
  ),
  /** When the key that bodies are encrypted with was set; null without one. */
  aes_key_set_at: z.date().nullable(),
  /** Whether our calls are encrypted with it; what the partner sends is read either way. */
  encrypts_calls: z.boolean(),
  created_at: z.date(),
  updated_at: z.date(),
})
export type Partner = z.output<typeof partner>

/** What an operator sees of a live clientSecret. */
export interface PartnerSecretDates {
  readonly secret_id: string
  /** Whether calls to the partner are signed with it; one secret is. */
  readonly signs: boolean
  readonly created_at: Date
  /** Null: until another has taken over signing. */
  readonly ends_at: Date | null
  /** To the minute; null: never. */
  readonly last_used_at: Date | null
}

/** A partner with the dates of its live secrets, the newer one first. */
export type ShownPartner = Partner & { readonly secrets: readonly PartnerSecretDates[] }

import { z } from 'zod'
import { listOf } from '../lib/json/lists.ts'
import { visibleLine } from '../lib/visible.ts'
import { webUrl } from '../lib/web/web-url.ts'
import { parseHostEntry } from './host.ts'

/** What the admin routes and the command line take and give. Names are those of the wire, and of the table's columns. */

export const SCOPES = ['USER_INFO', 'PHONE_NUMBER'] as const
const STATUSES = ['pending', 'approved', 'suspended'] as const
const REFRESH_DAYS = [7, 30, 60, 90] as const
const REFRESH_POLICIES = ['fixed', 'rotating'] as const

/** Characters of an app_key; one that began with "-" would read as an option on the command line. */
export const APP_KEY = /^[A-Za-z0-9_][A-Za-z0-9_-]{2,63}$/

const host = z.string().transform((text, context) => {
  const parsed = parseHostEntry(text)
  if ('entry' in parsed) return parsed.entry
  context.addIssue({ code: 'custom', message: parsed.problem })
  return z.NEVER
})
/** An http or https URL as it was typed, without user name and fragment. */
export const endpointUrl = webUrl.refine((text) => !text.includes('#'), 'must not have a fragment')

/** Names that the answer of the authorization page adds to the query; a redirect URI may not have them of its own. */
export const holdsAnswer = ({ searchParams }: URL): boolean => searchParams.has('code') || searchParams.has('state')

const pinnedUri = endpointUrl.refine(
  (text) => !URL.canParse(text) || !holdsAnswer(new URL(text)),
  'must not have code or state in its query',
)

const setOf = <T>(entry: z.ZodType<T>) => listOf('registered', entry).transform((entries) => [...new Set(entries)])
const atLeastOne = (entries: readonly unknown[]): boolean => entries.length > 0

const fields = {
  name: visibleLine(100),
  logo_url: webUrl.nullable(),
  hosts: setOf(host).refine(atLeastOne, 'must have at least 1 entry'),
  redirect_uris: setOf(pinnedUri),
  scopes: setOf(z.enum(SCOPES)),
  refresh_days: z.literal(REFRESH_DAYS),
  refresh_policy: z.enum(REFRESH_POLICIES),
  http_allowed: z.boolean(),
}

/** A micro-app to be created. An operator creates it, so it is approved unless said otherwise. */
export const newMicroApp = z.strictObject({
  app_key: z
    .string()
    .regex(APP_KEY, 'must have 3 to 64 characters of A-Z a-z 0-9 _ - and not begin with "-"')
    .optional(),
  ...fields,
  status: z.enum(['pending', 'approved']).default('approved'),
  logo_url: fields.logo_url.default(null),
  redirect_uris: fields.redirect_uris.default([]),
  scopes: fields.scopes.refine(atLeastOne, 'must have at least 1 entry'),
  refresh_days: fields.refresh_days.default(30),
  refresh_policy: fields.refresh_policy.default('fixed'),
  http_allowed: fields.http_allowed.default(true),
})
export type NewMicroApp = z.output<typeof newMicroApp>

/** What may be changed later: only the fields that are given; a list replaces the whole list. */
export const microAppChanges = z.strictObject(fields).partial()
export type MicroAppChanges = z.output<typeof microAppChanges>

/** How long the secret so far still works beside the new one: seconds, 30 days at most. */
export const rotation = z.strictObject({
  overlap_s: z.int().min(0).max(2_592_000).default(86_400),
})
export type Rotation = z.output<typeof rotation>

/** A micro-app as it is kept and shown. */
export const microApp = z.object({
  app_key: z.string(),
  name: z.string(),
  logo_url: z.string().nullable(),
  status: z.enum(STATUSES),
  hosts: z.array(z.string()),
  redirect_uris: z.array(z.string()),
  scopes: z.array(z.enum(SCOPES)),
  refresh_days: z.literal(REFRESH_DAYS),
  refresh_policy: z.enum(REFRESH_POLICIES),
  http_allowed: z.boolean(),
  created_at: z.date(),
  updated_at: z.date(),
})
export type MicroApp = z.output<typeof microApp>

/** What an operator sees of a live secret; the secret itself is not kept. */
export interface SecretDates {
  readonly created_at: Date
  /** Null: until it is rotated. */
  readonly ends_at: Date | null
  /** To the minute; null: never. */
  readonly last_used_at: Date | null
}

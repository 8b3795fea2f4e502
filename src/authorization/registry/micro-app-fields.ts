import { z } from 'zod'
import { type Fields, marked } from '../../platform/db/record-fields.ts'
import { asMessage, problem } from '../../platform/lib/json/field-problem.ts'
import { shownName } from '../../platform/lib/json/input.ts'
import { SCOPES } from '../../platform/lib/scope.ts'
import { endpointUrl, hasParameter, webUrl } from '../../platform/lib/web/web-url.ts'
import { parseHostEntry } from './host.ts'
import { OIDC_FIELDS, setOf } from './oidc-fields.ts'

const STATUSES = ['pending', 'approved', 'suspended'] as const
const REFRESH_DAYS = [7, 30, 60, 90] as const
const REFRESH_POLICIES = ['fixed', 'rotating'] as const

/** An app_key must not begin with "-", which the command line would read as an option. */
export const APP_KEY = /^[A-Za-z0-9_][A-Za-z0-9_-]{2,63}$/

const host = z.string().transform((text, context) => {
  const parsed = parseHostEntry(text)
  if ('entry' in parsed) return parsed.entry
  context.addIssue({ code: 'custom', message: asMessage(parsed.problem) })
  return z.NEVER
})

/** Query parameters that A1 adds to a redirect URI, which may not have them itself. */
const A1_ADDS = ['code', 'state']
/** A registered redirect URI serves both dialects; RFC 6749 and RFC 9207 add more. */
const BOTH_ADD = [...A1_ADDS, 'iss', 'error', 'error_description']

export const hasResponseParameters = (uri: string): boolean => hasParameter(uri, A1_ADDS)

const pinnedUri = endpointUrl.refine((text) => !hasParameter(text, BOTH_ADD), problem('must-have-no-response'))

const atLeastOne = (entries: readonly unknown[]): boolean => entries.length > 0
const NOT_EMPTY = problem('must-have-entry')

const name = shownName(100)
const logoUrl = webUrl.nullable()
const webhookUrl = endpointUrl.nullable()
const hosts = setOf(host).meta({ flag: 'host' })
const redirectUris = setOf(pinnedUri).meta({ flag: 'redirect-uri' })
const scopes = setOf(z.enum(SCOPES)).meta({ flag: 'scope' })
const httpAllowed = z.boolean().meta({ flag: 'http' })
const refreshDays = z.literal(REFRESH_DAYS)
const refreshPolicy = z.enum(REFRESH_POLICIES)

/** Every field of a micro-app that an operator sets. README.md says how to add one. */
export const MICRO_APP_FIELDS = {
  app_key: {
    created: z.string().regex(APP_KEY, problem('must-be-app-key')).optional(),
    kept: z.string(),
    everyCall: true,
  },
  name: {
    created: name,
    changed: name,
    kept: z.string(),
    ofTeam: { most: name.maxLength },
  },
  logo_url: {
    created: logoUrl.default(null),
    changed: logoUrl,
    kept: z.string().nullable(),
    ofTeam: { type: 'url', most: webUrl.maxLength, folded: true },
  },
  hosts: {
    created: hosts.default([]),
    changed: hosts,
    kept: z.array(z.string()),
    ofTeam: { lines: 2, folded: true },
  },
  redirect_uris: {
    created: redirectUris.default([]),
    changed: redirectUris,
    kept: z.array(z.string()),
    ofTeam: { lines: 3 },
  },
  scopes: {
    created: scopes.refine(atLeastOne, NOT_EMPTY),
    changed: scopes,
    kept: z.array(z.enum(SCOPES)),
    everyCall: true,
    ofTeam: {}, // checkboxes, each with a reason
  },
  refresh_days: {
    created: refreshDays.default(30),
    changed: refreshDays,
    kept: refreshDays,
    everyCall: true,
  },
  refresh_policy: {
    created: refreshPolicy.default('fixed'),
    changed: refreshPolicy,
    kept: refreshPolicy,
    everyCall: true,
  },
  http_allowed: {
    created: httpAllowed.default(true),
    changed: httpAllowed,
    kept: z.boolean(),
  },
  webhook_url: {
    created: webhookUrl.default(null),
    changed: webhookUrl,
    kept: z.string().nullable(),
  },
  ...OIDC_FIELDS,
  status: {
    created: z.enum(['pending', 'approved']).default('approved'),
    kept: z.enum(STATUSES),
    everyCall: true,
  },
} as const satisfies Fields

/** The fields that an app's team sets: directly in development, by a request once the app is live. */
export const TEAM_FIELDS = marked(MICRO_APP_FIELDS, 'ofTeam')

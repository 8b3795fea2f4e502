import { z } from 'zod'
import { changeable, type Fields, marked } from '../../platform/db/record-fields.ts'
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

const name = shownName(100)
const scopes = setOf(z.enum(SCOPES)).meta({ flag: 'scope' })
const refreshDays = z.literal(REFRESH_DAYS)
const refreshPolicy = z.enum(REFRESH_POLICIES)
const texts = z.array(z.string())
const textOrNull = z.string().nullable()

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
    ...changeable(webUrl.nullable(), null, textOrNull),
    ofTeam: { type: 'url', most: webUrl.maxLength, folded: true },
  },
  hosts: {
    ...changeable(setOf(host).meta({ flag: 'host' }), [], texts),
    ofTeam: { lines: 2, folded: true },
  },
  redirect_uris: {
    ...changeable(setOf(pinnedUri).meta({ flag: 'redirect-uri' }), [], texts),
    ofTeam: { lines: 3 },
  },
  scopes: {
    created: scopes.refine((entries) => entries.length > 0, problem('must-have-entry')),
    changed: scopes,
    kept: z.array(z.enum(SCOPES)),
    everyCall: true,
    ofTeam: {}, // checkboxes, each with a reason
  },
  refresh_days: { ...changeable(refreshDays, 30, refreshDays), everyCall: true },
  refresh_policy: { ...changeable(refreshPolicy, 'fixed', refreshPolicy), everyCall: true },
  http_allowed: changeable(z.boolean().meta({ flag: 'http' }), true, z.boolean()),
  webhook_url: changeable(endpointUrl.nullable(), null, textOrNull),
  ...OIDC_FIELDS,
  status: {
    created: z.enum(['pending', 'approved']).default('approved'),
    kept: z.enum(STATUSES),
    everyCall: true,
  },
} as const satisfies Fields

/** The fields that an app's team sets: directly in development, by a request once the app is live. */
export const TEAM_FIELDS = marked(MICRO_APP_FIELDS, 'ofTeam')

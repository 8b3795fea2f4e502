import { z } from 'zod'
import { isLoopbackHost } from '../lib/web/web-url.ts'
import { PROFILE_FIELDS, type ProfileField } from './people.ts'

/** The name of a claim (OIDC Core §5.1; providers add their own, some named by a URL). */
const claimName = z.string().regex(/^[!-~]{1,200}$/, 'must be the name of a claim, such as sub')

/** Settings for sign-in at the platform's OpenID provider. */
export const upstreamSettings = {
  UPSTREAM_ISSUER: z
    .url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' })
    .refine((text) => !/[?#]|:\/\/[^/]*@/.test(text), 'must not have a query, a fragment or a user name')
    .optional()
    .describe(
      'issuer of the OpenID provider at which people sign in; `http://` only on this machine or in development',
    ),
  UPSTREAM_CLIENT_ID: z.string().min(1).max(512).optional().describe('what the provider calls this service'),
  UPSTREAM_CLIENT_SECRET: z
    .string()
    .min(8, 'must have at least 8 characters')
    .max(1_024)
    .optional()
    .describe('secret with which this service asks the provider for tokens'),
  UPSTREAM_SCOPE: z
    .string()
    .regex(/^[!-~]+( [!-~]+)*$/, { error: 'must be scopes, separated by spaces', abort: true })
    .refine((text) => text.split(' ').includes('openid'), 'must contain openid')
    .default('openid profile phone')
    .describe('scopes that the provider is asked for, separated by spaces'),
  UPSTREAM_CID: claimName
    .refine((text) => !/^\d+$/.test(text) || (/^(0|[1-9]\d*)$/.test(text) && Number(text) <= 2_147_483_647), {
      message: 'must be the name of a claim, or a whole number up to 2147483647',
    })
    .optional()
    .describe('claim that is the cid of a person; a whole number: the cid of everybody'),
  UPSTREAM_USER_ID: claimName.default('sub').describe('claim that is the user_id of a person'),
}

type UpstreamSettings = { [Name in keyof typeof upstreamSettings]?: string | undefined }

/** Settings that need the provider, that it needs, or that contradict it; `given` is what the environment sets. */
export function upstreamProblems(
  config: UpstreamSettings & {
    readonly NODE_ENV: string
    readonly PUBLIC_URL?: string | undefined
    readonly PROFILE_OWNED?: readonly ProfileField[]
  },
  given: Readonly<Record<string, string>>,
): string[] {
  const issuer = config.UPSTREAM_ISSUER
  const names = ['UPSTREAM_CLIENT_ID', 'UPSTREAM_CLIENT_SECRET', 'UPSTREAM_CID'] as const
  if (issuer === undefined) {
    return Object.keys(upstreamSettings)
      .filter((name) => name in given)
      .map((name) => `${name} needs UPSTREAM_ISSUER: set that too, or unset ${name}`)
  }
  const problems = names
    .filter((name) => config[name] === undefined)
    .map((name) => `UPSTREAM_ISSUER needs ${name}: set it, or unset UPSTREAM_ISSUER`)
  const { protocol, hostname, origin } = new URL(issuer)
  if (protocol === 'http:' && config.NODE_ENV === 'production' && !isLoopbackHost(hostname)) {
    problems.push('UPSTREAM_ISSUER must be an https:// address in production, unless it is of this machine')
  }
  if (origin === config.PUBLIC_URL) {
    problems.push('UPSTREAM_ISSUER is this service itself (PUBLIC_URL): people cannot sign in there')
  }
  for (const name of Object.keys(OFF_WITH_UPSTREAM)) {
    if (!(name in given) || given[name] === 'off') continue
    problems.push(`${name} must be off with UPSTREAM_ISSUER, where people prove who they are: unset it`)
  }
  if ('PROFILE_OWNED' in given && PROFILE_FIELDS.some((field) => !config.PROFILE_OWNED?.includes(field))) {
    problems.push('PROFILE_OWNED must name every field with UPSTREAM_ISSUER, which tells them: unset it')
  }
  return problems
}

/** What people do at the provider instead. */
const OFF_WITH_UPSTREAM = { SECOND_FACTOR: 'off', PASSKEYS: false, PASSWORD_RESET: 'off' } as const

/** Settings that a provider overrides: it also owns the whole profile. */
export const withUpstream = ({ UPSTREAM_ISSUER }: UpstreamSettings) =>
  UPSTREAM_ISSUER === undefined ? {} : { ...OFF_WITH_UPSTREAM, PROFILE_OWNED: [...PROFILE_FIELDS] }

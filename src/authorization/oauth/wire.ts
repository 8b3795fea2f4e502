import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import type { Actor } from '../../platform/deps.ts'
import { secondsLeft } from '../../platform/lib/clock.ts'
import type { OpaqueToken } from '../../platform/lib/crypto/opaque-token.ts'
import { issue, problem } from '../../platform/lib/json/field-problem.ts'
import { contractNames } from '../../platform/lib/scope.ts'
import { parseQuery, queryOf } from '../../platform/lib/web/request-target.ts'
import { userKey } from '../account/index.ts'
import type { CallingApp } from '../registry/index.ts'
import { oauthFailure } from './failures.ts'
import type { SignInBehindGrant } from './grant-store.ts'

const LONGEST_URL = 8 * 1024

/** The query parameters of a request, each given at most once. */
export type Parameters = ReadonlyMap<string, string>

/** Always of the query string. Refuses a URL that is too long, and parameters that are repeated or cannot be decoded. */
export function readParameters(url: string): Parameters {
  if (url.length > LONGEST_URL) throw oauthFailure('url_too_long')
  const { values, repeated, undecodable } = parseQuery(queryOf(url))
  for (const name of undecodable) throw oauthFailure('parameter_undecodable', { value: name })
  // PostgreSQL cannot store NUL, and no parameter needs it.
  const withNul = url.includes('%00') && [...values].find((pair) => pair.some((text) => text.includes('\0')))
  if (withNul) throw oauthFailure('parameter_undecodable', { value: withNul[0] })
  for (const name of repeated) throw oauthFailure('parameter_repeated', { value: name })
  return values
}

/** A parameter that must be there; an empty one counts as missing. */
export function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (!value) throw oauthFailure('parameter_missing', { value: name, detail: name })
  return value
}

/** Seconds (REFERENCE "Endpoints of area A"). */
export const CODE_LIFETIME_S = 300

/** data of a successful token response (REFERENCE "Answers of area A"). */
export const tokenSetShape = z.object({
  access_token: z.string(),
  /** Whole seconds left at the moment of the answer. */
  expires_in: z.int(),
  refresh_token: z.string(),
  /** Granted scopes in the order asked, separated by a space. */
  scope: z.string(),
  token_type: z.literal('bearer'),
})
export type TokenSet = Readonly<z.output<typeof tokenSetShape>>

/** The app that tokens are issued to. Passed beside Deps: copying those for every request would cost more. */
export interface TokenCaller {
  readonly app: CallingApp
  /** For the audit log; its `address` is the caller's (TRUST_PROXY). */
  readonly actor: Actor
  /** Not authenticated: the caller only claims to be this app. */
  readonly isPublic?: boolean
}

/** The result of an exchange or a refresh. */
export interface IssuedTokens {
  readonly accessToken: OpaqueToken
  readonly refreshToken: OpaqueToken
  /** Of the access token, by the names of both dialects (src/platform/lib/scope.ts). */
  readonly scopes: readonly string[]
  readonly grantId: string
  readonly issuedAt: Date
  /** If the exchange was asked for it. */
  readonly signIn?: SignInBehindGrant | undefined
}

export const tokenSet = ({ accessToken, refreshToken, scopes, issuedAt }: IssuedTokens): TokenSet => ({
  access_token: accessToken.text,
  expires_in: secondsLeft(accessToken.expiresAt, issuedAt),
  refresh_token: refreshToken.text,
  scope: contractNames(scopes).join(' '),
  token_type: 'bearer',
})

/** Text in a query, a number in JSON. */
const cidInQuery = z
  .union(
    [
      z.number(),
      z
        .string()
        .regex(/^\d{1,10}$/)
        .transform(Number),
    ],
    problem('must-be-number'),
  )
  .pipe(userKey.shape.cid)

/** Grants of one user, by both halves of the key, or of one micro-app; and which page of them. */
export const grantFilter = z
  .strictObject({
    cid: cidInQuery.optional(),
    user_id: userKey.shape.user_id.optional(),
    app_key: filterText(128).optional(),
    ...pageInput(z.tuple([momentKey, z.uuid()])),
  })
  .superRefine(({ app_key, ...filter }, context) => {
    const id = app_key === undefined ? 'required-or-app-key' : 'not-with-app-key'
    for (const field of ['cid', 'user_id'] as const) {
      const isGiven = filter[field] !== undefined
      if (isGiven === (app_key !== undefined)) context.addIssue({ ...issue(id), path: [field] })
    }
  })

export const grantReference = userKey.extend({ grant_id: z.uuid(problem('must-be-grant-id')) })

export const withdrawal = z.strictObject({ app_key: filterText(64) })

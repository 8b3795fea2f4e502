import { z } from 'zod'
import { changeable, type Fields } from '../../platform/db/record-fields.ts'
import { issue, problem } from '../../platform/lib/json/field-problem.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { parsedUrl } from '../../platform/lib/parsed-url.ts'
import { endpointUrl, hasParameter, isLoopbackHost } from '../../platform/lib/web/web-url.ts'

/** The fields of micro-apps that only OAuth 2.0 and OpenID Connect use (room oidc). */

export const TOKEN_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const
const ID_TOKEN_ALGS = ['RS256', 'ES256'] as const

export const setOf = <T>(entry: z.ZodType<T>) =>
  listOf('registered', entry).transform((entries) => [...new Set(entries)])

/** We add `state` to its query. */
const postLogoutUri = endpointUrl.refine((text) => !hasParameter(text, ['state']), problem('must-have-no-state'))
const postLogoutUris = setOf(postLogoutUri).meta({ flag: 'post-logout-uri' })

/** The default. */
export const USUAL_TOKEN_AUTH = ['client_secret_basic', 'client_secret_post'] as const
const tokenAuthMethods = setOf(z.enum(TOKEN_AUTH_METHODS))
  .refine((methods) => methods.length > 0, problem('must-have-entry'))
  .refine((methods) => !methods.includes('none') || methods.length === 1, problem('none-alone'))
  .meta({ flag: 'token-auth' })

/** Whether the app has an app_secret, for either dialect. */
export const hasSecret = ({ token_auth_methods }: { token_auth_methods: readonly string[] }): boolean =>
  token_auth_methods.some((method) => method.startsWith('client_secret_'))

const isOrigin = (text: string): boolean => parsedUrl(text)?.origin === text

const corsOrigins = setOf(endpointUrl.refine(isOrigin, problem('must-be-origin'))).meta({ flag: 'cors-origin' })

const idTokenAlg = z.enum(ID_TOKEN_ALGS)

const KEY_TYPES = ['RSA', 'EC', 'OKP']
const PUBLIC_MEMBERS = ['kty', 'kid', 'use', 'alg', 'n', 'e', 'crv', 'x', 'y']
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']
const LONGEST_MEMBER = 2_048

/** A public key that we can verify with. A private one is refused; only the relevant members are kept. */
export const publicKey = z
  .record(z.string(), z.unknown())
  .refine(({ kty }) => KEY_TYPES.includes(String(kty)))
  .refine((jwk) => !PRIVATE_MEMBERS.some((name) => name in jwk))
  .transform((jwk) => PUBLIC_MEMBERS.flatMap((name) => (typeof jwk[name] === 'string' ? [[name, jwk[name]]] : [])))
  .refine((members) => members.every(([, value = '']) => value.length <= LONGEST_MEMBER))
  .transform((members): Record<string, string> => Object.fromEntries(members))
const jwks = z.object({ keys: listOf('registered', publicKey).min(1).max(10) })

/** On the command line it is JSON text. */
const givenJwks = z
  .union(
    [
      jwks,
      z.string().transform((text, context) => {
        try {
          return jwks.parse(JSON.parse(text))
        } catch {
          context.addIssue(issue('must-be-jwks'))
          return z.NEVER
        }
      }),
    ],
    problem('must-be-jwks'),
  )
  .nullable()

/** Keys fetched over plain http could be anybody's. */
const isTrustworthy = (text: string): boolean => {
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || isLoopbackHost(hostname)
}
const jwksUri = endpointUrl
  .refine((text) => !parsedUrl(text) || isTrustworthy(text), problem('must-be-https-or-loopback'))
  .nullable()

const flag = (usual: boolean) => changeable(z.boolean(), usual, z.boolean())

export const OIDC_FIELDS = {
  post_logout_uris: changeable(postLogoutUris, [], z.array(z.string())),
  token_auth_methods: {
    ...changeable(tokenAuthMethods, [...USUAL_TOKEN_AUTH], z.array(z.enum(TOKEN_AUTH_METHODS))),
    everyCall: true,
  },
  jwks: changeable(givenJwks, null, z.object({ keys: z.array(z.record(z.string(), z.string())) }).nullable()),
  jwks_uri: changeable(jwksUri, null, z.string().nullable()),
  require_pkce: flag(true),
  require_pkce_in_a1: flag(false),
  issuer_aud_only: flag(false),
  always_ask: flag(false),
  cors_origins: changeable(corsOrigins, [], z.array(z.string())),
  id_token_alg: { ...changeable(idTokenAlg, 'RS256', idTokenAlg), everyCall: true },
} as const satisfies Fields

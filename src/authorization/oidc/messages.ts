import { z } from 'zod'

/** The parameters and responses of each standard endpoint. Other parameters are ignored; documents are built from these. */

const scopes = z.string().max(1_024)
const hint = z.string().max(4_096)
const state = z.string().max(1_024)

/** Client identification and authentication without an Authorization header. */
export const clientForm = z.object({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  client_assertion: z.string().max(8_192).optional(),
  client_assertion_type: z.literal('urn:ietf:params:oauth:client-assertion-type:jwt-bearer').optional(),
})

export const authorizeQuery = z.object({
  client_id: z.string(),
  redirect_uri: z.url(),
  response_type: z.literal('code'),
  response_mode: z.enum(['query', 'form_post']).optional(),
  scope: scopes,
  state: state.optional(),
  nonce: z.string().max(512).optional(),
  code_challenge: z.string().length(43).optional(),
  code_challenge_method: z.literal('S256').optional(),
  prompt: z.string().optional(),
  max_age: z.string().regex(/^\d+$/).optional(),
  login_hint: z.string().optional(),
  ui_locales: z.string().optional(),
  id_token_hint: hint.optional(),
  acr_values: z.string().optional(),
})

export const exchangeForm = z.object({
  grant_type: z.literal('authorization_code'),
  code: z.string(),
  redirect_uri: z.url(),
  code_verifier: z.string().optional(),
  /** Not part of OAuth 2.0. If sent, it must equal that of the authorization request. */
  state: state.optional(),
})

export const refreshForm = z.object({
  grant_type: z.literal('refresh_token'),
  refresh_token: z.string(),
  scope: scopes.optional(),
})

export const tokenForm = z.object({
  token: z.string(),
  token_type_hint: z.enum(['access_token', 'refresh_token']).optional(),
})

export const bearerForm = z.object({ access_token: z.string() })

export const logoutQuery = z.object({
  id_token_hint: hint.optional(),
  client_id: z.string().optional(),
  post_logout_redirect_uri: z.url().optional(),
  state: state.optional(),
  ui_locales: z.string().optional(),
})

export const namesOf = (shape: z.ZodObject): readonly string[] => Object.keys(shape.shape)

/** RFC 6749 §5.1, OIDC Core §3.1.3.3. */
export const tokenResponse = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  /** Whole seconds left at the moment of the answer. */
  expires_in: z.int(),
  scope: z.string(),
  refresh_token: z.string().optional(),
  id_token: z.string().optional(),
})
export type TokenResponse = Readonly<z.output<typeof tokenResponse>>

/** The claims of the token's scopes (OIDC Core §5.1); those that are not set are left out. */
export const userInfo = z.object({
  sub: z.string(),
  name: z.string().optional(),
  preferred_username: z.string().optional(),
  gender: z.enum(['male', 'female']).optional(),
  picture: z.string().optional(),
  updated_at: z.int().optional(),
  phone_number: z.string().optional(),
  phone_number_verified: z.literal(false).optional(),
})
export type UserInfo = Readonly<z.output<typeof userInfo>>

/** RFC 7662 §2.2. */
export const introspection = z.union([
  z.object({
    active: z.literal(true),
    scope: z.string().optional(),
    client_id: z.string(),
    token_type: z.literal('Bearer').optional(),
    exp: z.int(),
    sub: z.string(),
    iss: z.string(),
  }),
  z.object({ active: z.literal(false) }),
])
export type Introspection = Readonly<z.output<typeof introspection>>

/** RFC 9126 §2.2. */
export const pushedAuthorizationResponse = z.object({ request_uri: z.string(), expires_in: z.int() })
export type PushedAuthorizationResponse = Readonly<z.output<typeof pushedAuthorizationResponse>>

/** RFC 7517. */
export const jwks = z.object({
  keys: z.array(
    z.looseObject({ kid: z.string(), alg: z.enum(['RS256', 'ES256']), use: z.literal('sig'), kty: z.string() }),
  ),
})

import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors, type JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { everyKey } from '../../platform/lib/crypto/keys.ts'
import { verifyJwt } from '../../platform/lib/crypto/verify-jwt.ts'
import { oauthFailure, type Parameters } from '../oauth/index.ts'
import { findMicroAppForAuthentication, type MicroApp } from '../registry/index.ts'
import type { ClientKeys } from './client-keys.ts'
import { oidcFailure } from './failures.ts'
import { recordAssertion } from './store.ts'

export const ASSERTION_ALGS = ['RS256', 'PS256', 'ES256', 'EdDSA']

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const LONGEST = 8_192
/** How far in the future an assertion may expire, seconds: each is remembered until then. */
const LONGEST_LIFE_S = 600
const CLOCK_TOLERANCE_S = 30

const claims = z.object({
  iss: z.string(),
  sub: z.string(),
  exp: z.number(),
  jti: z.string().min(1).max(512),
})

export interface ClientDeps extends Deps {
  readonly clientKeys: ClientKeys
}

/** Authenticates an app by private_key_jwt (RFC 7523 §3, OIDC Core §9). */
export async function verifyAssertion(deps: ClientDeps, parameters: Parameters): Promise<MicroApp> {
  const text = parameters.get('client_assertion') ?? ''
  if (parameters.get('client_assertion_type') !== TYPE || text.length > LONGEST) {
    throw oidcFailure('client_authentication_unsupported')
  }
  const { issuer, kid } = decodeUnverified(text)
  const app = await findMicroAppForAuthentication(deps, issuer)
  if (!app) throw oauthFailure('credentials_wrong')
  if (!app.token_auth_methods.includes('private_key_jwt')) {
    throw oidcFailure('client_authentication_unsupported', { detail: 'private_key_jwt' })
  }
  const clientId = parameters.get('client_id')
  if (clientId !== undefined && clientId !== app.app_key) throw oidcFailure('client_id_differs')
  const { keys, problem } = await keysOf(deps, app, kid)
  const { exp, jti } = await verify(deps, app, keys, text).catch((error: unknown) => {
    throw isVerificationError(error) ? oidcFailure(failureOf(error), problem ? { detail: problem } : {}) : error
  })
  // Compared as numbers: a client that sends microseconds exceeds what a Date can hold.
  if (exp * 1000 > addSeconds(deps.clock.now(), LONGEST_LIFE_S).getTime()) throw oidcFailure('assertion_out_of_time')
  const endsAt = fromEpochSeconds(exp)
  // Stored under every key: another process may hash with another one while SECRET_KEY is being rotated.
  for (const key of everyKey(deps.keys)) {
    const hash = hmacSha256(key.storage, `assertion\n${app.app_key}\n${jti}`)
    const isFirst = await recordAssertion(deps.db, hash, addSeconds(endsAt, CLOCK_TOLERANCE_S))
    if (!isFirst) throw oidcFailure('assertion_used')
  }
  return app
}

/** Fetches the app's published keys in advance, so that no transaction has to wait for its server. */
export async function prefetchKeys(deps: ClientDeps, parameters: Parameters): Promise<void> {
  const text = parameters.get('client_assertion')
  if (text === undefined || text.length > LONGEST) return
  const { issuer, kid } = decodeUnverified(text)
  const app = await findMicroAppForAuthentication(deps, issuer)
  if (app) await keysOf(deps, app, kid)
}

function decodeUnverified(text: string): { issuer: string; kid: string | undefined } {
  try {
    const issuer: unknown = decodeJwt(text).iss // a claim may be any JSON
    return { issuer: typeof issuer === 'string' ? issuer : '', kid: decodeProtectedHeader(text).kid }
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw oidcFailure('assertion_unusable')
    throw error
  }
}

const keysOf = async ({ clientKeys }: ClientDeps, { jwks, jwks_uri }: MicroApp, kid: string | undefined) =>
  jwks_uri === null
    ? { keys: createLocalJWKSet(jwks ?? { keys: [] }), problem: undefined }
    : clientKeys.at(jwks_uri, kid)

async function verify({ config, clock }: Deps, app: MicroApp, keys: JWTVerifyGetKey, text: string) {
  const { app_key, issuer_aud_only } = app
  const { payload } = await verifyJwt(text, keys, {
    algorithms: ASSERTION_ALGS,
    issuer: app_key,
    subject: app_key,
    audience: [config.PUBLIC_URL, `${config.PUBLIC_URL}/oauth2/token`, `${config.PUBLIC_URL}/oauth2/par`],
    currentDate: clock.now(),
    clockTolerance: CLOCK_TOLERANCE_S,
  })
  if (issuer_aud_only && payload.aud !== config.PUBLIC_URL) throw oidcFailure('assertion_for_another')
  return claims.parse(payload)
}

/** WebCrypto throws a DOMException or a TypeError for a registered key that is malformed. */
const isVerificationError = (error: unknown): boolean =>
  [errors.JOSEError, z.ZodError, DOMException, TypeError].some((kind) => error instanceof kind)

const BY_CLAIM = {
  aud: 'assertion_for_another',
  exp: 'assertion_out_of_time',
  nbf: 'assertion_out_of_time',
  iat: 'assertion_out_of_time',
} as const
/** The assertion is well-formed, but its key is not one of the app's. */
const KEY_PROBLEMS = [errors.JWSSignatureVerificationFailed, errors.JWKSNoMatchingKey, DOMException, TypeError]

function failureOf(error: unknown) {
  if (error instanceof errors.JWTExpired) return 'assertion_out_of_time'
  if (error instanceof errors.JWTClaimValidationFailed) {
    return BY_CLAIM[error.claim as keyof typeof BY_CLAIM] ?? 'assertion_unusable'
  }
  return KEY_PROBLEMS.some((kind) => error instanceof kind) ? 'assertion_key_unknown' : 'assertion_unusable'
}

import { createLocalJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { z } from 'zod'
import type { Deps } from '../deps.ts'
import { addSeconds, fromEpochSeconds } from '../lib/clock.ts'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import { type Parameters, refuseOauth } from '../oauth/index.ts'
import { findMicroAppForAuthentication, type MicroApp } from '../registry/index.ts'
import { useAssertion } from './client-assertion-store.ts'
import { refuse } from './failures.ts'

export const ASSERTION_ALGS = ['RS256', 'PS256', 'ES256', 'EdDSA']

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const LONGEST = 8_192
/** How far in the future an assertion may end, seconds: so long each is remembered. */
const LONGEST_LIFE_S = 600
const CLOCK_TOLERANCE_S = 30

const claims = z.object({
  iss: z.string(),
  sub: z.string(),
  exp: z.number(),
  jti: z.string().min(1).max(512),
})

/**
 * The app whose key has signed the assertion (RFC 7523 §3, OIDC Core §9 private_key_jwt). It is meant for us, ends soon and
 * works once.
 */
export async function verifyAssertion(deps: Deps, parameters: Parameters): Promise<MicroApp> {
  const text = parameters.get('client_assertion') ?? ''
  if (parameters.get('client_assertion_type') !== TYPE || text.length > LONGEST) {
    throw refuse('client_authentication_unsupported')
  }
  const app = await findMicroAppForAuthentication(deps, issuerOf(text))
  if (!app?.jwks) throw refuseOauth('credentials_wrong')
  const clientId = parameters.get('client_id')
  if (clientId !== undefined && clientId !== app.app_key) throw refuse('client_id_differs')
  await verify(deps, app, createLocalJWKSet(app.jwks), text)
  return app
}

function issuerOf(text: string): string {
  try {
    return decodeJwt(text).iss ?? ''
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refuseOauth('credentials_wrong')
    throw error
  }
}

async function verify({ config, db, clock, keys }: Deps, app: MicroApp, jwks: JWTVerifyGetKey, text: string) {
  const now = clock.now()
  try {
    const { payload } = await jwtVerify(text, jwks, {
      algorithms: ASSERTION_ALGS,
      issuer: app.app_key,
      subject: app.app_key,
      audience: [config.PUBLIC_URL, `${config.PUBLIC_URL}/oauth2/token`, `${config.PUBLIC_URL}/oauth2/par`],
      currentDate: now,
      clockTolerance: CLOCK_TOLERANCE_S,
    })
    const { exp, jti } = claims.parse(payload)
    const endsAt = fromEpochSeconds(exp)
    if (endsAt > addSeconds(now, LONGEST_LIFE_S)) throw refuseOauth('credentials_wrong')
    const hash = hmacSha256(keys.storage, `assertion\n${app.app_key}\n${jti}`)
    if (!(await useAssertion(db, hash, addSeconds(endsAt, CLOCK_TOLERANCE_S)))) throw refuseOauth('credentials_wrong')
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof z.ZodError) throw refuseOauth('credentials_wrong')
    throw error
  }
}

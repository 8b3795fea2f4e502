import type { JWTVerifyGetKey } from 'jose'
import { z } from 'zod'
import { addSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { verifyJwt } from '../../platform/lib/crypto/verify-jwt.ts'
import { UpstreamFailure } from './failures.ts'

/** Only public-key algorithms: neither `none` nor an HMAC with a secret that others may know. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
const TYPES = ['logout+jwt', 'jwt']
export const LONGEST_LOGOUT_TOKEN = 8_192
/** How long a token is valid after it was issued, and the tolerated difference between the clocks, seconds. */
const LIFE_S = 300
const SKEW_S = 60

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const name = z.string().min(1).max(1_024)
const claims = z
  .object({
    iat: z.number(),
    jti: name,
    events: z.object({ [EVENT]: z.object({}) }),
    sub: name.optional(),
    sid: name.optional(),
    nonce: z.never().optional(), // an id_token has one
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined, 'names neither a person nor a session')

interface Expected {
  readonly issuer: string
  readonly audience: string
  readonly algs: readonly string[]
  readonly now: Date
}

/** What the provider has ended: one of its sessions, or all of a person. */
export type EndedThere = Awaited<ReturnType<typeof readLogoutToken>>

/**
 * A logout token (OpenID Connect Back-Channel Logout 1.0 §2.6), signed by an algorithm that the provider uses for id_tokens
 * (`algs`). Throws UpstreamFailure, or what jose throws.
 */
export async function readLogoutToken(token: string, keys: JWTVerifyGetKey, { issuer, audience, algs, now }: Expected) {
  const { payload, protectedHeader } = await verifyJwt(token, keys, {
    ...{ issuer, audience, algorithms: ALGORITHMS.filter((alg) => algs.includes(alg)), currentDate: now },
    ...{ clockTolerance: SKEW_S, maxTokenAge: LIFE_S, requiredClaims: ['exp'] },
  })
  const { typ } = protectedHeader
  const read = claims.safeParse(payload)
  if (!read.success || (typ !== undefined && !TYPES.includes(typ.toLowerCase()))) {
    throw new UpstreamFailure('untrusted', 'it is no logout token')
  }
  const { iat, jti, sub, sid } = read.data
  return {
    // Hashes, as stored with our sessions.
    sub: sub === undefined ? undefined : sha256(sub),
    sid: sid === undefined ? undefined : sha256(sid),
    // Recorded until `expiresAt`, so that the token is used once.
    hash: sha256(`logout token\n${issuer}\n${jti}`),
    expiresAt: addSeconds(fromEpochSeconds(Math.floor(iat)), LIFE_S + 2 * SKEW_S),
  }
}

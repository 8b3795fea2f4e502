import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader, errors } from 'jose'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { epochSeconds } from '../../platform/lib/clock.ts'
import { hmacSha256, sha256 } from '../../platform/lib/crypto/digest.ts'
import type { Keys } from '../../platform/lib/crypto/keys.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import type { SignedIn } from '../account/index.ts'
import { type IssuedTokens, signInOfGrant } from '../oauth/index.ts'
import type { CallingApp } from '../registry/index.ts'
import { type Signer, type SigningKeys, signCompact } from './signing-key-cache.ts'
import { ALGS } from './store.ts'
import { ID_TOKEN_LIFETIME_S } from './wire.ts'

export interface OidcDeps extends Deps {
  readonly signingKeys: SigningKeys
}

/** Identifies a browser session to clients. Derived from its hash, so that nobody can make a cookie of it. */
export const sidOf = (keys: Keys, { sessionHash }: SignedIn): string =>
  hmacSha256(keys.derive, 'sid\n', sessionHash).toString('base64url', 0, 16)

/** The left half of a token's SHA-256 (OIDC Core §3.1.3.6); RS256 and ES256 both use SHA-256. */
const halfHash = (token: string): string => sha256(token).toString('base64url', 0, 16)

export const ID_TOKEN_SCOPE = 'openid'

/** The id_token for issued tokens, if their scopes ask for one; `withNonce` for the first of a grant (OIDC Core §12.2). */
export async function issueIdToken(
  { config, db }: OidcDeps,
  app: CallingApp,
  { accessToken, grantId, issuedAt, signIn, scopes }: IssuedTokens,
  { signer, withNonce }: { readonly signer: Signer | undefined; readonly withNonce: boolean },
): Promise<string | undefined> {
  if (!signer || !scopes.includes(ID_TOKEN_SCOPE)) return undefined
  const grant = signIn ?? (await signInOfGrant(db, { routingKey: accessToken.routingKey, grantId }))
  if (!grant) return undefined // just purged
  const iat = epochSeconds(issuedAt)
  const claims = {
    iss: config.PUBLIC_URL,
    sub: subjectOf({ cid: grant.cid, userId: grant.user_id }),
    aud: app.app_key,
    iat,
    exp: iat + ID_TOKEN_LIFETIME_S,
    at_hash: halfHash(accessToken.text),
    ...(grant.auth_time ? { auth_time: epochSeconds(grant.auth_time) } : {}),
    ...(grant.sid ? { sid: grant.sid } : {}),
    ...(grant.acr ? { acr: grant.acr } : {}),
    ...(grant.amr ? { amr: grant.amr } : {}),
    ...(withNonce && grant.nonce ? { nonce: grant.nonce } : {}),
  }
  return signCompact(signer, claims)
}

const hint = z.object({ iss: z.string(), sub: z.string(), aud: z.string() })

/** The claims of an id_token of ours, expired or not; undefined for anything else. */
export async function readHint(deps: OidcDeps, text: string): Promise<z.output<typeof hint> | undefined> {
  const examined = await examineIdToken(deps, text)
  const claims = examined?.signature === 'right' ? hint.safeParse(examined.claims).data : undefined
  return claims?.iss === deps.config.PUBLIC_URL ? claims : undefined
}

/** A JWT, expired or not, and who signed it: `foreign` is a key that we do not have. Undefined for other text. */
export async function examineIdToken({ signingKeys }: OidcDeps, text: string) {
  try {
    const { alg, kid } = decodeProtectedHeader(text)
    const claims = decodeJwt(text)
    const keys = createLocalJWKSet({ keys: await signingKeys.hintJwks() })
    const signature = await compactVerify(text, keys, { algorithms: [...ALGS] })
      .then(() => 'right' as const)
      .catch((error: unknown) => {
        if (!isJoseError(error)) throw error
        return error instanceof errors.JWSSignatureVerificationFailed ? ('wrong' as const) : ('foreign' as const)
      })
    return { header: { alg, kid }, claims, signature }
  } catch (error) {
    if (isJoseError(error) || error instanceof TypeError) return undefined
    throw error
  }
}

const isJoseError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_J')

import { errors, type JWTVerifyGetKey, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from 'jose'

/** Anybody can send a JWT that none of the keys verifies, and a published set may have many. */
const MAX_TRIED = 10

/**
 * Verifies a JWT with the key that it names. One without `kid`, which RFC 7515 allows, may be signed with any key of its
 * type: whoever rotates a key publishes two.
 */
export async function verifyJwt(
  text: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(text, keys, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let tried = 0
    for await (const key of error) {
      if (++tried > MAX_TRIED) break
      try {
        return await jwtVerify(text, key, options)
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

import { equalSecrets } from '../lib/crypto/keys.ts'
import { authorizationHeader } from '../lib/crypto/signing.ts'
import { decodedPath, pathAsSent } from '../lib/web/request-target.ts'

/**
 * Takes an Authorization header apart. Base64 has no colon, so the signature is what follows the last one and a
 * clientId may hold colons.
 */
export function parseAuthorization(header: string): { clientId: string; signature: string } | { problem: string } {
  if (!header.startsWith('MWS ')) return { problem: 'the scheme is not "MWS" and one space' }
  const credentials = header.slice('MWS '.length)
  const colon = credentials.lastIndexOf(':')
  if (colon < 0) return { problem: 'no colon between clientId and signature' }
  const clientId = credentials.slice(0, colon)
  if (clientId.trim() === '') return { problem: 'the clientId is empty' }
  return { clientId, signature: credentials.slice(colon + 1) }
}

/** Whether a PartnerId header names this partner. Compared as a number: `7001` and `07001` are one. */
export const namesPartner = (given: string, partnerId: bigint): boolean =>
  /^\d{1,19}$/.test(given.trim()) && BigInt(given.trim()) === partnerId

/** A call as it came in; `url` is the request target as the caller sent it, with its query. */
export interface ReceivedCall {
  readonly method: string
  readonly url: string
  readonly date: string
  readonly authorization: string
}

/** The paths that a partner may have signed (DECISIONS "What a signed call may do differently"): as sent, as sent with its query, percent-decoded. */
function acceptedPaths(url: string): string[] {
  const path = pathAsSent(url)
  const question = url.indexOf('?')
  return [...new Set([path, question < 0 ? path : path + url.slice(question), decodedPath(path)])]
}

/**
 * Which of the partner's live secrets signed the call: an index into `secrets`, or null when none did. The whole
 * header is compared (signature rule 4), in constant time, and each secret and variant is tried in any case.
 */
export function verify(call: ReceivedCall, clientId: string, secrets: readonly string[]): number | null {
  let matched: number | null = null
  for (const [index, secret] of secrets.entries()) {
    for (const path of acceptedPaths(call.url)) {
      const expected = authorizationHeader(clientId, secret, { method: call.method, path, date: call.date })
      if (equalSecrets(expected, call.authorization)) matched ??= index
    }
  }
  return matched
}

/** Whether a call that one of the secrets has signed was signed with its query: without it the signature does not fit. */
export const signedWithQuery = (call: ReceivedCall, clientId: string, secrets: readonly string[]): boolean =>
  call.url.includes('?') && verify({ ...call, url: pathAsSent(call.url) }, clientId, secrets) === null

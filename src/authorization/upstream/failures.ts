import { Overloaded } from '../../platform/lib/concurrency-limit.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { HttpCallError } from '../../platform/outbound/index.ts'

/** Why a sign-in at the provider failed; the page tells the reason, the log also `detail`. */
type UpstreamReason =
  /** The provider is unreachable, too slow, or does not answer with OpenID Connect. */
  | 'away'
  /** The person or the provider declined. */
  | 'denied'
  /** The answer does not fit this sign-in: issuer, audience, nonce, signature, time. */
  | 'untrusted'
  /** It did not authenticate the person again, as requested. */
  | 'not_asked_again'
  /** Its claims do not identify a person here. */
  | 'unnamed'
  /** This sign-in was begun in another browser, is over, or was never begun. */
  | 'not_begun'

/** `detail` contains no part of an answer, so it may be logged. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly reason: UpstreamReason

  constructor(reason: UpstreamReason, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.reason = reason
  }
}

// ---- errors of openid-client, by their codes: the library itself is only loaded with the first sign-in

/** Answers that a working provider would not give. */
const AWAY = [
  ...['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR', 'OAUTH_TIMEOUT'],
  ...['ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID', 'ERR_JOSE_GENERIC'],
]
const ERROR_ANSWER = 'OAUTH_AUTHORIZATION_RESPONSE_ERROR'
const BODY_ERROR = 'OAUTH_RESPONSE_BODY_ERROR'
const UNKNOWN_KEY = ['OAUTH_KEY_SELECTION_FAILED', 'ERR_JWKS_NO_MATCHING_KEY']

type LibraryError = Error & Readonly<Partial<Record<'code' | 'error' | 'status', unknown>>>

const chainOf = (error: unknown): LibraryError[] => (error instanceof Error ? [error, ...chainOf(error.cause)] : [])

const codeIn = (errors: readonly LibraryError[], codes: readonly string[]): boolean =>
  errors.some(({ code }) => typeof code === 'string' && codes.includes(code))

export const isUnknownKey = (error: unknown): boolean => codeIn(chainOf(error), UNKNOWN_KEY)

/** An error code from outside, for the log. */
const nameOf = (error: unknown): string =>
  typeof error === 'string' && /^[\w.-]{1,64}$/.test(error) ? error : 'an error without a name'

const BUSY = ['server_error', 'temporarily_unavailable']

function refused(name: string): UpstreamReason {
  if (name === 'access_denied') return 'denied'
  return BUSY.includes(name) ? 'away' : 'untrusted'
}

/** `discovering`: the provider's metadata or keys were being fetched. Errors that are not the provider's are rethrown. */
export function failureOf(error: unknown, discovering = false): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error
  const errors = chainOf(error)
  const options = { cause: error }
  const call = errors.find((one) => one instanceof HttpCallError || one instanceof Overloaded)
  if (call) return new UpstreamFailure('away', call.message, options)
  const [first] = errors
  if (first && codeIn([first], [ERROR_ANSWER])) {
    const name = nameOf(first.error)
    return new UpstreamFailure(refused(name), `it answered with ${name}`, options)
  }
  if (first && codeIn([first], [BODY_ERROR])) {
    const isBusy = typeof first.status === 'number' && first.status >= 500
    return new UpstreamFailure(isBusy ? 'away' : 'untrusted', `a call was refused: ${nameOf(first.error)}`, options)
  }
  // Other messages, such as those of JSON.parse, quote the answer.
  const ofLibrary = errors.filter(({ code }) => typeof code === 'string' && /^(OAUTH|ERR)_/.test(code))
  if (ofLibrary.length === 0 && !(first instanceof TypeError)) throw error
  const messages = ofLibrary.map(({ message }) => message).join(': ')
  const detail = cutTo(messages || 'an answer of the wrong type', 300)
  return new UpstreamFailure(discovering || codeIn(errors, AWAY) ? 'away' : 'untrusted', detail, options)
}

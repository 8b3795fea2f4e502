/** Why a sign-in at the provider failed; the page tells the reason, the log also `detail`. */
export type UpstreamReason =
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

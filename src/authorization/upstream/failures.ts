/** Why a sign-in at the provider came to nothing; the page says it, the log says `detail` too. */
export type UpstreamReason =
  /** It cannot be reached, does not answer in time, or answers with something else than OpenID Connect. */
  | 'away'
  /** The person, or the provider, did not want to. */
  | 'denied'
  /** What it says is not about this sign-in: issuer, audience, nonce, signature, time. */
  | 'untrusted'
  /** It has not asked the person again, as it was told to. */
  | 'not_asked_again'
  /** What it says of the person names nobody here. */
  | 'unnamed'
  /** This sign-in was begun in another browser, is over, or was never begun. */
  | 'not_begun'

/** No part of an answer is in `detail`: it may be logged. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure'
  readonly reason: UpstreamReason

  constructor(reason: UpstreamReason, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.reason = reason
  }
}

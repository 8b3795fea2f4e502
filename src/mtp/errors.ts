/**
 * Every way in which a partner's call is refused (decisions, section 3). `describe` goes out, `reason` is kept with the
 * rejected calls, `detail` is logged.
 */
export class CallRejected extends Error {
  override readonly name = 'CallRejected'
  readonly describe: string
  readonly status: 200 | 404 | 405 | 429
  readonly headers: Readonly<Record<string, string>>
  readonly detail: string

  constructor(describe: string, reason = describe, status: 200 | 404 | 405 | 429 = 200, headers = {}, detail = reason) {
    super(reason)
    this.describe = describe
    this.status = status
    this.headers = headers
    this.detail = detail
  }
}

/** Nothing more on the wire; why goes to the log, the rejected calls and the signature tool. */
export const BA_FAILED = 'BA verification failed'

export const baFailed = (reason: string): CallRejected => new CallRejected(BA_FAILED, reason)

/** What is wrong with a body may quote it, vouchers and names included: none of that is logged. */
export const bodyRejected = (describe: string): CallRejected =>
  new CallRejected(describe, describe, 200, {}, 'refused for its body; why is among the rejected calls')

export const noSuchPath = (): CallRejected => new CallRejected('no such path', 'no such path', 404)

export const methodNotAllowed = (): CallRejected =>
  new CallRejected('method not allowed; use POST', 'method not allowed', 405, { Allow: 'POST' })

export const tooManyCalls = (seconds: number): CallRejected =>
  new CallRejected('too many calls; try again later', 'rate limit', 429, { 'Retry-After': String(seconds) })

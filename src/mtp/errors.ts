/** Every way in which a partner's call is refused (decisions, section 3). Two texts: `describe` goes out, `reason` does not. */
export class CallRejected extends Error {
  override readonly name = 'CallRejected'
  readonly describe: string
  readonly status: 200 | 404 | 405 | 429
  readonly headers: Readonly<Record<string, string>>

  constructor(describe: string, reason = describe, status: 200 | 404 | 405 | 429 = 200, headers = {}) {
    super(reason)
    this.describe = describe
    this.status = status
    this.headers = headers
  }
}

/** Nothing more on the wire; why goes to the log, the rejected calls and the signature tool. */
export const BA_FAILED = 'BA verification failed'

export const baFailed = (reason: string): CallRejected => new CallRejected(BA_FAILED, reason)

export const bodyRejected = (describe: string): CallRejected => new CallRejected(describe)

export const noSuchPath = (): CallRejected => new CallRejected('no such path', 'no such path', 404)

export const methodNotAllowed = (): CallRejected =>
  new CallRejected('method not allowed; use POST', 'method not allowed', 405, { Allow: 'POST' })

export const tooManyCalls = (seconds: number): CallRejected =>
  new CallRejected('too many calls; try again later', 'rate limit', 429, { 'Retry-After': String(seconds) })

import type { RefusalCode } from './answer.ts'
import { refusalCode } from './endpoints.ts'

/**
 * Every way in which a partner's call is refused (DECISIONS "Order of checks of a signed call"). `describe` goes out, `reason` is kept with the
 * rejected calls, `detail` is logged.
 */
export class CallRejected extends Error {
  override readonly name: string = 'CallRejected'
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

/** A call that did not pass authentication. */
export class BaFailed extends CallRejected {
  /** Whether it was signed with a live secret under a Date of now, and something else is wrong with it. */
  readonly verified: boolean

  constructor(reason: string, verified: boolean) {
    super(BA_FAILED, reason)
    this.verified = verified
  }
}

export const baFailed = (reason: string): BaFailed => new BaFailed(reason, false)

/** Signature and Date prove whose call it is, and it is refused all the same. */
export const baFailedThoughVerified = (reason: string): BaFailed => new BaFailed(reason, true)

/** What is wrong with a body may quote it, vouchers and names included: none of that is logged. */
export const bodyRejected = (describe: string): CallRejected =>
  new CallRejected(describe, describe, 200, {}, 'refused for its body; why is among the rejected calls')

export const noSuchPath = (): CallRejected => new CallRejected('no such path', 'no such path', 404)

/** Programs that were written for the first version of the protocol call below `/lv`. */
export const firstVersion = (mount: string): CallRejected => {
  const describe = `no such path: the first version of the protocol (/lv/) is not supported; use ${mount}/`
  return new CallRejected(describe, describe, 404)
}

export const methodNotAllowed = (): CallRejected =>
  new CallRejected('method not allowed; use POST', 'method not allowed', 405, { Allow: 'POST' })

export const tooManyCalls = (seconds: number): CallRejected =>
  new CallRejected('too many calls; try again later', 'rate limit', 429, { 'Retry-After': String(seconds) })

/** The code of the answer that refuses a call to that URL. */
export function codeOf(rejected: CallRejected, url: string): RefusalCode {
  if (rejected.status === 404) return 404
  return rejected instanceof BaFailed ? 300 : refusalCode(url)
}

import { failureCodeOf } from './endpoints.ts'
import type { RejectionCode } from './envelope.ts'

/**
 * Every way in which a partner's call is rejected (DECISIONS "Order of checks of a signed call"). `describe` goes out, `reason` is kept with the
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

/** Nothing more on the wire; the reason goes to the log, the rejected calls and the signature tool. */
export const BA_FAILED = 'BA verification failed'

/** A call that did not pass authentication. */
export class NotAuthenticated extends CallRejected {
  /** Of a call that was signed with a live secret and a current Date, so that something else is wrong. */
  readonly signer: bigint | undefined

  constructor(reason: string, signer?: bigint) {
    super(BA_FAILED, reason)
    this.signer = signer
  }

  get verified(): boolean {
    return this.signer !== undefined
  }
}

export const notAuthenticated = (reason: string): NotAuthenticated => new NotAuthenticated(reason)

/** Signature and Date prove that this partner sent the call, but it is rejected for another reason. */
export const rejectedThoughVerified = (reason: string, partnerId: bigint): NotAuthenticated =>
  new NotAuthenticated(reason, partnerId)

/** Problems of a body may quote it, including vouchers and names: none of that is logged. */
export const bodyRejected = (describe: string, reason = describe): CallRejected =>
  new CallRejected(describe, reason, 200, {}, 'refused because of its body; the rejected calls show the reason')

export const noSuchPath = (): CallRejected => new CallRejected('no such path', 'no such path', 404)

export const methodNotAllowed = (allowed: readonly string[] = ['POST']): CallRejected =>
  new CallRejected(
    `method not allowed; use ${allowed.filter((method) => method !== 'HEAD').join(' or ')}`,
    'method not allowed',
    405,
    {
      Allow: allowed.join(', '),
    },
  )

export const tooManyCalls = (seconds: number): CallRejected =>
  new CallRejected('too many calls; try again later', 'rate limit', 429, { 'Retry-After': String(seconds) })

/** The code of the answer that rejects a call to that URL. */
export function rejectionCode(rejected: CallRejected, url: string): RejectionCode {
  if (rejected.status === 404) return 404
  return rejected instanceof NotAuthenticated ? 300 : failureCodeOf(url)
}

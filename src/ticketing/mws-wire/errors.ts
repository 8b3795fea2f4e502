import { type Detail, type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { failureCodeOf } from './endpoints.ts'
import type { RejectionCode } from './envelope.ts'

/**
 * Every way in which a call is rejected (REFERENCE "Order of checks of a signed call"). `describe` is sent, `reason` is
 * kept, `detail` is logged; `describe` and `detail` default to the English of `reason`.
 */
export class CallRejected extends Error {
  override readonly name: string = 'CallRejected'
  readonly reason: LocalizedText
  readonly describe: string
  readonly status: 200 | 404 | 405 | 429
  readonly headers: Readonly<Record<string, string>>
  readonly detail: string

  constructor(
    reason: LocalizedText,
    options: Partial<Pick<CallRejected, 'describe' | 'status' | 'headers' | 'detail'>> = {},
  ) {
    super(String(reason))
    this.reason = reason
    this.describe = options.describe ?? this.message
    this.status = options.status ?? 200
    this.headers = options.headers ?? {}
    this.detail = options.detail ?? this.message
  }
}

/** All that goes over the wire; the reason goes to the log, the rejected calls and the signature tool. */
export const BA_FAILED = 'BA verification failed'

const AUTHENTICATION_FAILURES = [
  ...(['field-came-twice', 'header-missing', 'scheme-not-mws', 'no-colon', 'client-id-empty', 'no-client-id'] as const),
  ...(['signature-unfit', 'signature-mistakes', 'date-form', 'date-impossible', 'date-weekday'] as const),
  ...(['date-differs', 'partner-id-missing', 'query-signed', 'header-of-another', 'partner-suspended'] as const),
] as const
type AuthFailure = (typeof AUTHENTICATION_FAILURES)[number]

/** Whether a call with this reason did not pass authentication. */
export const isOfAuthentication = (reason: Detail | null): boolean =>
  typeof reason === 'object' && (AUTHENTICATION_FAILURES as readonly (string | undefined)[]).includes(reason?.id)

export class NotAuthenticated extends CallRejected {
  /** The partner whose live secret signed the call, with a current Date; it is refused for another reason. */
  readonly signer: bigint | undefined

  constructor(reason: LocalizedText<AuthFailure>, signer?: bigint) {
    super(reason, { describe: BA_FAILED })
    this.signer = signer
  }

  get verified(): boolean {
    return this.signer !== undefined
  }
}

/** The reason may quote the body, with vouchers and names, so it is not logged. `answer`: what to send instead. */
export const bodyRejected = (reason: LocalizedText, answer = reason): CallRejected =>
  new CallRejected(reason, {
    describe: String(answer),
    detail: 'refused because of its body; the rejected calls show the reason',
  })

export const noSuchPath = (): CallRejected => new CallRejected(localized('wrong-path'), { status: 404 })

export const methodNotAllowed = (allowed: readonly string[] = ['POST']): CallRejected =>
  new CallRejected(
    localized('method-not-allowed', { allowed: allowed.filter((method) => method !== 'HEAD').join(' or ') }),
    { status: 405, headers: { Allow: allowed.join(', ') }, detail: 'method not allowed' },
  )

export const tooManyCalls = (seconds: number): CallRejected =>
  new CallRejected(localized('too-many-calls'), {
    status: 429,
    headers: { 'Retry-After': String(seconds) },
    detail: 'rate limit',
  })

export function rejectionCode(rejected: CallRejected, url: string): RejectionCode {
  if (rejected.status === 404) return 404
  return rejected instanceof NotAuthenticated ? 300 : failureCodeOf(url)
}

import { type Detail, LocalizedText, localized } from '../localized-text.ts'
import { cutTo } from '../storable.ts'

/** Area A's error table (REFERENCE "Errors of area A"); `message` is the id of its text. */
export const RESCODES = {
  20001: { name: 'BadClientCredentialsException', status: 401, message: 'bad-client-credentials' },
  20002: { name: 'ClientAuthenticationException', status: 401, message: 'client-authentication-failed' },
  20003: { name: 'ForbiddenException', status: 403, message: 'request-forbidden' },
  20004: { name: 'InsufficientScopeException', status: 403, message: 'insufficient-scope' },
  20005: { name: 'InvalidClientException', status: 401, message: 'invalid-client' },
  20006: { name: 'InvalidGrantException', status: 400, message: 'invalid-grant' },
  20007: { name: 'InvalidRequestException', status: 400, message: 'invalid-request' },
  20008: { name: 'InvalidScopeException', status: 400, message: 'invalid-scope' },
  20009: { name: 'InvalidTokenException', status: 401, message: 'invalid-access-token' },
  20010: { name: 'MethodNotAllowed', status: 405, message: 'method-refused' },
  20011: { name: 'OAuth2AccessDeniedException', status: 403, message: 'access-denied' },
  20012: { name: 'RedirectMismatchException', status: 400, message: 'redirect-uri-mismatch' },
  20013: { name: 'ServerErrorException', status: 500, message: 'server-error' },
  20014: { name: 'UnauthorizedClientException', status: 401, message: 'app-not-trusted' },
  20015: { name: 'UnauthorizedException', status: 401, message: 'unauthorized' },
  20016: { name: 'UnauthorizedUserException', status: 401, message: 'user-not-trusted' },
  20017: { name: 'UnsupportedGrantTypeException', status: 400, message: 'unsupported-grant-type' },
  20018: { name: 'UnsupportedResponseTypeException', status: 400, message: 'unsupported-response-type' },
  20019: { name: 'UserDeniedAuthorizationException', status: 400, message: 'user-denied' },
  20020: { name: 'ExpiredAccessTokenException', status: 401, message: 'access-token-expired' },
  20021: { name: 'ExpiredRefreshTokenException', status: 400, message: 'refresh-token-expired' },
} as const

export type Rescode = keyof typeof RESCODES

/** Empty for codes of area B. */
export const nameOfRescode = (code: number): string => RESCODES[code as Rescode]?.name ?? ''

export interface Problem {
  readonly field: string
  /** In English in answers; the command line also has plain strings. */
  readonly problem: Detail
}

export interface Failure {
  /** Fills the *what* of the message. */
  readonly what?: Detail | undefined
  readonly message?: LocalizedText
  /** For the log only; must hold no secret. */
  readonly detail?: string | undefined
  /** The fault of the app that has sent the person here. */
  readonly byApp?: true | undefined
  /** Its name in a room's table of failures. */
  readonly name?: string
  readonly about?: { readonly appKey: string; readonly cid: number; readonly userId: string } | undefined
  /** An HTTP status that applies even in the default mode (REFERENCE "Errors of area A"). */
  readonly status?: 404 | 405 | 413 | 415 | 429 | 500 | 503 | undefined
  readonly nativeStatus?: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** It may have been carried out in spite of that. */
  readonly outcomeUnknown?: boolean
  /** Sent with the message, for input with several problems. */
  readonly problems?: readonly Problem[]
}

export interface FailureAnswer {
  readonly rescode: Rescode
  /** The text in English, for the answer. */
  readonly message: string
  /** The text for pages, in the reader's language. */
  readonly text: LocalizedText
  readonly failure: Failure
  /** The HTTP status: 200 for a caller's mistake unless statuses are native (REFERENCE "Errors of area A"). */
  status(native: boolean): number
}

/** An expected refusal, not a bug. It records no stack, which would cost more than everything else; tests turn that on. */
export class Refusal extends Error {
  static recordsStack = false

  constructor(message: string) {
    const { stackTraceLimit } = Error
    if (!Refusal.recordsStack) Error.stackTraceLimit = 0
    super(message)
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** The text of a failure: its own, or else the rescode's. */
export const textOf = (rescode: Rescode, message: LocalizedText | undefined, what: Detail = ''): LocalizedText =>
  message ?? new LocalizedText(RESCODES[rescode].message, { what })

/** A failure in area A; thrown by operations, rendered in one place. */
export class RescodeError extends Refusal implements FailureAnswer {
  override readonly name = 'RescodeError'
  readonly rescode: Rescode
  readonly text: LocalizedText
  readonly failure: Failure

  constructor(rescode: Rescode, failure: Failure = {}) {
    const text = textOf(rescode, failure.message, failure.what)
    super(String(text))
    this.rescode = rescode
    this.text = text
    this.failure = failure
  }

  status(native: boolean): number {
    const fixed = this.failure.status
    if (fixed) return fixed
    return native ? (this.failure.nativeStatus ?? RESCODES[this.rescode].status) : 200
  }
}

/** A refused request of a partner or operator, answered in English: with code 300, 20007, or on the command line. */
export class RefusedRequest extends RescodeError {
  readonly describe: LocalizedText

  constructor(describe: LocalizedText, failure: Failure = {}) {
    super(20007, { ...failure, what: describe })
    this.describe = describe
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: removing control characters is the purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

/** A caller's value as it may be echoed: without control characters, at most 128 characters. */
export const echo = (value: string): string => cutTo(value.replace(CONTROL, ''), 128)

export const invalidRequest = (what: LocalizedText, failure: Failure = {}): RescodeError =>
  new RescodeError(20007, { ...failure, what })

/** Turns a refusal with status 404 into undefined. */
export const ifFound = <Found>(look: Promise<Found>): Promise<Found | undefined> =>
  look.catch((error: unknown) => {
    if (error instanceof RescodeError && error.failure.status === 404) return undefined
    throw error
  })

export const noSuchPath = (): RescodeError => invalidRequest(localized('wrong-path'), { status: 404 })

export const methodNotAllowed = (allowed: readonly string[]): RescodeError =>
  new RescodeError(20010, { name: 'method_not_allowed', status: 405, headers: { Allow: allowed.join(', ') } })

export const tooManyRequests = (seconds: number): RescodeError => {
  const headers = { 'Retry-After': String(Math.max(1, seconds)) }
  return new RescodeError(20003, { status: 429, headers, detail: 'rate limit' })
}

export const serverError = (): RescodeError => new RescodeError(20013, { status: 500 })

/** The request was not carried out, unless `outcomeUnknown`; `detail` says why, for the log. */
export const unavailable = (detail?: string, outcomeUnknown = false): RescodeError =>
  new RescodeError(20013, { status: 503, headers: { 'Retry-After': '2' }, detail, outcomeUnknown })

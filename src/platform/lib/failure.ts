import { type Detail, type LocalizedText, localized } from './localized-text.ts'
import { echo, type FailureAnswer, RESCODES, Refusal, type Rescode, textOf } from './web/rescode.ts'

/** How the standard dialect reports a failure (RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1). */
export interface OAuthError {
  readonly error: string
  /** HTTP status, unless the failure is sent through the browser. */
  readonly status: 400 | 401 | 403 | 429 | 500 | 503
  /** Must not reveal more than the caller may know; a function is given `value`. */
  readonly description: LocalizedText | ((value: string) => LocalizedText)
}

export const oauthError = (
  error: string,
  description: OAuthError['description'],
  status: OAuthError['status'] = 400,
): OAuthError => ({ error, status, description })

/** How each dialect reports a failure: OAuth 2.0 by `standard`, the contract's by the other columns but `fix`. */
export interface FailureRow {
  readonly rescode: Rescode
  /** Fills the *what* of the rescode's message; a function is given `value`, shortened for answers. */
  readonly what?: Detail | ((value: string) => Detail)
  /** Replaces the rescode's message. */
  readonly message?: LocalizedText | ((value: string) => LocalizedText)
  /** The app's fault: the page tells the person whom the app has sent here. */
  readonly byApp?: true
  /** HTTP status with ENVELOPE_HTTP_STATUS=native, if not the rescode's own. */
  readonly nativeStatus?: number
  /** HTTP status whatever the mode. */
  readonly status?: 404 | 405 | 429
  /** Missing if the failure occurs only in the contract's dialect or for operators. */
  readonly standard?: OAuthError
  /** Names the advice for the app's developers: the text `developer.fix.<fix>`. */
  readonly fix?: string
}

/** A table "order of checks" of the REFERENCE, by row; a missing parameter is named: `parameter_missing state`. */
export type CheckSequence = Readonly<Record<number, { readonly check: string; readonly failures: readonly string[] }>>

interface FailureFacts {
  /** What the caller sent, or the parameter's name. The answer repeats it, the log does not. */
  readonly value?: string
  /** For the log only; must hold no secret. */
  readonly detail?: string
  /** Seconds until a retry makes sense. */
  readonly retryAfterS?: number
  /** Methods that the path supports, if the request had another. */
  readonly allow?: readonly string[]
  /** Whose token it is, if known; for the log and `gatehouse explain`. */
  readonly about?: { readonly appKey: string; readonly cid: number; readonly userId: string }
}

/** Thrown by an operation that refuses. It says what is wrong; the caller's dialect decides how to report that. */
export class NamedFailure extends Refusal {
  override readonly name = 'NamedFailure'
  readonly failure: string
  readonly row: FailureRow
  readonly facts: FailureFacts

  constructor(failure: string, row: FailureRow, facts: FailureFacts) {
    super(failure)
    this.failure = failure
    this.row = row
    this.facts = facts
  }
}

/** The same failure under another name in the log; `more` may change the answer. */
export const renamed = ({ row, facts }: NamedFailure, name: string, more: Partial<FailureRow> = {}): NamedFailure =>
  new NamedFailure(name, { ...row, ...more }, facts)

/** For a table of failures: creates the failure of a name, to be thrown. */
export const failureFactory =
  <Name extends string>(table: Readonly<Record<Name, FailureRow>>) =>
  (failure: Name, facts: FailureFacts = {}): NamedFailure =>
    new NamedFailure(failure, table[failure], facts)

/** A named failure in the contract's dialect; its name goes to the log. */
export function contractAnswer({ failure, row, facts }: NamedFailure): FailureAnswer {
  const { value = '', detail, retryAfterS, allow, about } = facts
  const filled = <Text extends Detail>(text: Text | ((value: string) => Text) | undefined) =>
    typeof text === 'function' ? text(echo(value)) : text
  const [what, message] = [filled(row.what), filled(row.message)]
  const text = textOf(row.rescode, message, what)
  const { status: nativeStatus } = RESCODES[row.rescode]
  const retry = retryAfterS === undefined ? undefined : { 'Retry-After': String(Math.max(1, retryAfterS)) }
  const headers = retry ?? (allow && { Allow: allow.join(', ') })
  return {
    rescode: row.rescode,
    message: String(text),
    text,
    status: (native) => row.status ?? (native ? (row.nativeStatus ?? nativeStatus) : 200),
    failure: { name: failure, detail, about, what, byApp: row.byApp, status: row.status, headers },
  }
}

const SERVER_ERROR = oauthError('server_error', localized('server-failed'), 500)

/** RFC 6749 §5.2 allows only the other characters in a description. */
const NOT_IN_DESCRIPTIONS = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g

export function oauthErrorOf({ row, facts }: NamedFailure) {
  const { error, status, description } = row.standard ?? SERVER_ERROR
  const text = typeof description === 'function' ? description(echo(facts.value ?? '')) : description
  return { error, status, description: String(text).replace(NOT_IN_DESCRIPTIONS, ''), text }
}

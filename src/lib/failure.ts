import { Refusal } from './refusal.ts'
import { echo, type FailureAnswer, RESCODES, type Rescode } from './web/rescode.ts'

/**
 * One row of a room's table of failures: how the contract's dialect reports the failure. Another dialect is another
 * column.
 */
export interface FailureRow {
  readonly rescode: Rescode
  /** Fills the *what* of the rescode's message; as a function it is given `value`, shortened for an answer. */
  readonly what?: string | ((value: string) => string)
  /** Replaces the rescode's message. */
  readonly message?: string | ((value: string) => string)
  /** HTTP status with ENVELOPE_HTTP_STATUS=native, where it is not the rescode's own. */
  readonly nativeStatus?: number
  /** HTTP status whatever the mode. */
  readonly status?: 404 | 429
}

export interface FailureFacts {
  /** What the caller sent, or the parameter's name: the answer repeats it, the log does not. */
  readonly value?: string
  /** For the log only; holds no secret. */
  readonly detail?: string
  /** Seconds until it is worth trying again. */
  readonly retryAfterS?: number
}

/** Thrown by an operation that refuses. It says what is wrong; how that is reported is up to the dialect that asked. */
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

/** Makes `refuse` for a table: the failure of that name, to be thrown. */
export const refusals =
  <Name extends string>(table: Readonly<Record<Name, FailureRow>>) =>
  (failure: Name, facts: FailureFacts = {}): NamedFailure =>
    new NamedFailure(failure, table[failure], facts)

/** A named failure in the contract's dialect. The log gets its name. */
export function contractAnswer({ failure, row, facts }: NamedFailure): FailureAnswer {
  const { value = '', detail, retryAfterS } = facts
  const filled = (text: FailureRow['what']) => (typeof text === 'function' ? text(echo(value)) : text)
  const what = filled(row.what)
  const { status: nativeStatus, message } = RESCODES[row.rescode]
  return {
    rescode: row.rescode,
    message: filled(row.message) ?? message.replace(/\*\w+\*/, () => what ?? ''),
    status: (native) => row.status ?? (native ? (row.nativeStatus ?? nativeStatus) : 200),
    failure: {
      detail: detail === undefined ? failure : `${failure}: ${detail}`,
      ...(what === undefined ? {} : { what }),
      ...(row.status ? { status: row.status } : {}),
      ...(retryAfterS === undefined ? {} : { headers: { 'Retry-After': String(Math.max(1, retryAfterS)) } }),
    },
  }
}

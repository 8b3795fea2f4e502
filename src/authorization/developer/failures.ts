import { contractAnswer, type FailureRow, NamedFailure, oauthErrorOf } from '../../platform/lib/failure.ts'
import type { LocalizedText } from '../../platform/lib/localized-text.ts'
import type { ApiOperation } from '../../platform/lib/web/api-operation.ts'
import { failureEnvelope } from '../../platform/lib/web/envelope.ts'
import { nameOfRescode } from '../../platform/lib/web/rescode.ts'

/** A failure of an operation as the caller sees it. Failures that look the same to the caller are merged. */
export interface ReportedFailure {
  /** HTTP status; 303 if it is reported to the app by a redirect. */
  readonly status: number
  /** The rescode, or the `error` of the standard dialect. */
  readonly code: string
  /** What clients check: in the contract's dialect the name of the rescode, otherwise `error`. */
  readonly name: string
  /** In English, as sent. */
  readonly message: string
  readonly text: LocalizedText
  readonly body: object
}

/** Placeholder for what the caller sent. */
const VALUE = '(value)'

export function reportedFailures(operation: ApiOperation, native: boolean): ReportedFailure[] {
  const { dialect, failures, redirected = {} } = operation
  const report = (rows: Readonly<Record<string, FailureRow>>, status?: number): ReportedFailure[] =>
    Object.entries(rows).map(([name, row]) => {
      const failure = new NamedFailure(name, row, { value: VALUE })
      return dialect === 'contract' ? inContract(failure, native) : inStandard(failure, status)
    })
  const seen = new Map<string, ReportedFailure>()
  for (const failure of [...report(failures), ...report(redirected, 303)]) {
    seen.set(`${failure.status} ${failure.code} ${failure.message}`, failure)
  }
  return [...seen.values()].sort((a, b) => a.status - b.status || a.code.localeCompare(b.code))
}

function inContract(failure: NamedFailure, native: boolean): ReportedFailure {
  const answer = contractAnswer(failure)
  const { rescode, message, text } = answer
  return {
    status: answer.status(native),
    code: String(rescode),
    name: nameOfRescode(rescode),
    message,
    text,
    body: failureEnvelope(answer),
  }
}

function inStandard(failure: NamedFailure, status: number | undefined): ReportedFailure {
  const answer = oauthErrorOf(failure)
  const { error, description, text } = answer
  const body = { error, error_description: description }
  return { status: status ?? answer.status, code: error, name: error, message: description, text, body }
}

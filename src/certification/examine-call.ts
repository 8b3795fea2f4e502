import type { Deps } from '../deps.ts'
import type { CallRecord, CallVerdict } from '../partner-calls/index.ts'
import type { ExpectedChecks } from './checks.ts'
import type { Finding } from './event.ts'
import { type Expectation, examine } from './examine.ts'
import { doubtFindings } from './examine-doubts.ts'
import type { Stage } from './examine-envelope.ts'
import type { ExaminedCall } from './examine-http.ts'
import { redactFailure } from './redact-failure.ts'

/** Every check of the answer to a call as its partner may see it, warnings about values that look like mistakes too. */
export async function examineCall(
  deps: Deps,
  stage: Stage,
  call: ExaminedCall,
  expectation: Expectation,
): Promise<Finding[]> {
  const { failure, failure_detail: detail } = call
  const told = failure === null ? null : redactFailure(deps.config, { kind: failure, detail: detail ?? failure })
  const examined = examine({ ...call, failure_detail: told?.detail ?? null }, expectation, stage)
  return [...examined, ...(await doubtFindings(deps.db, call))]
}

/** A check without a level has the one that is expected of it. `advisory`: whatever failed is a warning. */
export function verdictOf(findings: readonly Finding[], expects: ExpectedChecks, advisory = false): CallVerdict {
  const failed = findings.filter(({ passed }) => !passed)
  if (failed.length === 0) return 'passed'
  return advisory || failed.every(({ id, level = expects[id] }) => level === 'warning') ? 'warning' : 'failed'
}

export interface MadeCall {
  readonly call: CallRecord
  /** The same call sent again. */
  readonly repeated: CallRecord | undefined
}

/** Runs an operation, and returns the calls that it made beside its result. */
export async function withCalls<Result>(
  deps: Deps,
  operation: (deps: Deps) => Promise<Result>,
): Promise<{ readonly result: Result; readonly calls: readonly MadeCall[] }> {
  const calls: MadeCall[] = []
  const onCall = (call: CallRecord, repeated: CallRecord | undefined) => {
    calls.push({ call, repeated })
  }
  const result = await operation({ ...deps, calls: { ...deps.calls, onCall } })
  return { result, calls }
}

import { z } from 'zod'
import { doubtsAbout } from '../catalogue/index.ts'
import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { interfaceNamed, readAnswer } from '../interfaces/index.ts'
import { parseLossless } from '../lib/json/lossless.ts'
import { listOf } from '../lib/json/shape.ts'
import { reasonDetail } from '../lib/reason-said.ts'
import type { CallRecord, SentAgain } from '../partner-calls/index.ts'
import type { ExpectedChecks, Finding } from './checks.ts'
import { type Expectation, examine } from './examine.ts'
import type { Stage } from './examine-code.ts'
import { type ExaminedCall, redactFailure } from './examine-http.ts'

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
export function verdictOf(
  findings: readonly Finding[],
  expects: ExpectedChecks,
  advisory = false,
): 'passed' | 'warning' | 'failed' {
  const failed = findings.filter(({ passed }) => !passed)
  if (failed.length === 0) return 'passed'
  return advisory || failed.every(({ id, level = expects[id] }) => level === 'warning') ? 'warning' : 'failed'
}

export interface MadeCall {
  readonly call: CallRecord
  /** What was sent again after it. */
  readonly sentAgain: readonly SentAgain[]
}

/** Runs an operation, and returns the calls that it made beside its result. */
export async function withCalls<Result>(
  deps: Deps,
  operation: (deps: Deps) => Promise<Result>,
): Promise<{ readonly result: Result; readonly calls: readonly MadeCall[] }> {
  const calls: MadeCall[] = []
  const onCall = (call: CallRecord, sentAgain: readonly SentAgain[]) => {
    calls.push({ call, sentAgain })
  }
  const result = await operation({ ...deps, calls: { ...deps.calls, onCall } })
  return { result, calls }
}

const MOST_DOUBTS = 20

const listing = z.looseObject({ body: listOf('prices', z.looseObject({})) })

/**
 * Warnings about values that fit their fields but look like mistakes (DECISIONS "Values that look like mistakes"), such as
 * cents given as yuan. None for an answer that fails the other checks.
 */
export async function doubtFindings(db: Db, call: ExaminedCall): Promise<Finding[]> {
  const entry = interfaceNamed(call.interface)
  if (!entry?.doubts || call.http_status !== 200 || call.response_body === null) return []
  const parsed = parseLossless(Buffer.from(call.response_body))
  const reading = 'value' in parsed ? readAnswer(entry, parsed.value) : undefined
  if (reading?.outcome !== 'success') return []
  const doubts = await doubtsAbout(db, call.partner_id, entry, listing.parse(reading.answer))
  return doubts.slice(0, MOST_DOUBTS).map(({ place, path, problem }) => ({
    id: 'plausible',
    level: 'warning',
    passed: false,
    path: `body[${place}].${path}`,
    actual: reasonDetail(problem),
    doc: `${entry.name}.answer.body.${path.replace(/\[\d+\]/g, '')}`,
  }))
}

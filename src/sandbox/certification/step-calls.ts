import { jsonIn } from '../../platform/lib/json/lossless.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { type InterfaceName, interfaceNamed, jsonFields, readAnswer } from '../../ticketing/interfaces/index.ts'
import {
  type AnswerOf,
  type CallOptions,
  type CallRecord,
  type CallResult,
  callPartner,
  judgeCall,
  lastCallAbout,
  type MadeCall,
  type RequestOf,
  withCalls,
} from '../../ticketing/partner-calls/index.ts'
import { interfaceUrl } from '../../ticketing/partners/index.ts'
import { type Expectation, examineCall, sameAnswerFindings, verdictOf } from '../checks/index.ts'
import type { Attempt, AttemptLog } from './attempt-log.ts'
import type { RunDeps } from './running-attempts.ts'

/** The result of an operation, and the partner's last response at the interface that was checked. */
interface Operated<Name extends InterfaceName, Result> {
  readonly result: Result
  /** The response's JSON as received; undefined if there is none. */
  readonly json: unknown
  readonly answer: AnswerOf<Name> | undefined
}

/** Calls to the partner during an attempt. Each one is logged. */
export function stepCalls({ deps, partner, expects, advisory, cause }: Attempt, log: AttemptLog) {
  const announce = async (name: InterfaceName) => {
    const url = interfaceUrl(partner, name, interfaceNamed(name)?.defaultPath ?? '') ?? ''
    await log.append({ kind: 'calling', data: { interface: name, url: log.mask(url) } })
  }

  const logCall = (call: CallRecord) =>
    log.append({ kind: 'call', data: { call_id: call.call_id, interface: call.interface } })

  /** Both responses to a call that was sent twice have to agree. */
  const logSentAgain = async ({ sentAgain }: MadeCall) => {
    for (const pair of sentAgain) {
      await logCall(pair.again)
      for (const { id, passed, ...more } of sameAnswerFindings(pair)) await log.check(id, passed, more)
    }
  }

  const logCallAndRepeats = async (made: MadeCall) => {
    await logCall(made.call)
    await logSentAgain(made)
  }

  const checkCall = async (call: CallRecord, expectation: Expectation) => {
    const findings = await examineCall(deps, partner.stage, call, expectation)
    // Traffic shows the verdict, so store it first: the next line may end the attempt.
    await judgeCall(deps.db, call.call_id, verdictOf(findings, expects, advisory || expectation.advisory))
    await logCall(call)
    const level = expectation.advisory && { level: 'warning' as const }
    for (const { id, passed, ...more } of findings) await log.check(id, passed, { ...more, ...level })
  }

  /** Runs an operation and checks its last call to the interface `name`; its other calls are only logged. */
  const operate = async <Name extends InterfaceName, Result>(
    name: Name,
    operation: (deps: RunDeps) => Promise<Result>,
    expectation: Expectation = {},
  ): Promise<Operated<Name, Result>> => {
    await announce(name)
    const { result, calls } = await withCalls(deps, operation)
    const checked = calls.findLast(({ call }) => call.interface === name)
    for (const made of calls) if (made !== checked) await logCallAndRepeats(made)
    if (!checked) return { result, json: undefined, answer: undefined }
    await checkCall(checked.call, expectation)
    await logSentAgain(checked)
    const json = jsonIn(checked.call.response_body)
    return { result, json, answer: answerIn(name, json) }
  }

  /** Makes one call and checks its response. */
  const call = async <Name extends InterfaceName>(
    name: Name,
    body: RequestOf<Name>,
    options: Omit<CallOptions, 'cause'> & Expectation = {},
  ): Promise<CallResult<AnswerOf<Name>>> => {
    const operation = (inside: RunDeps) => callPartner(inside, partner, name, body, { cause, ...options })
    return (await operate(name, operation, options)).result
  }

  /** Preparations may fail, but the log has to say why something is missing. */
  const warnOfFailures = async ({ call }: MadeCall) => {
    for (const { id, passed, level, ...more } of await examineCall(deps, partner.stage, call, {})) {
      if (!passed && level !== 'warning') await log.check(id, passed, { ...more, level: 'warning' })
    }
  }

  const runLogged = async <Result>(
    operation: (inside: RunDeps) => Promise<Result>,
    afterCall: (made: MadeCall) => Promise<void> = async () => {},
  ): Promise<Result> => {
    const { result, calls } = await withCalls(deps, operation)
    for (const made of calls) {
      await logCallAndRepeats(made)
      await afterCall(made)
    }
    return result
  }

  return {
    call,
    operate,
    /** Runs an operation that prepares the step. Failed checks of its calls are warnings. */
    prepare: <Result>(operation: (deps: RunDeps) => Promise<Result>) => runLogged(operation, warnOfFailures),
    /** Runs an operation while responses of that interface get lost: we hang up after sending the request. */
    loseAnswer: async <Result>(name: InterfaceName, operation: (deps: RunDeps) => Promise<Result>) => {
      await log.append({ kind: 'fault', data: { fault: localized('answer-lost', { interface: name }) } })
      return runLogged((inside) =>
        operation({
          ...inside,
          calls: { ...inside.calls, faults: { aheadS: deps.calls.faults?.aheadS ?? 0, dropsAnswerOf: name } },
        }),
      )
    },
    /** Sends the last call to that interface about an order again, as the platform does after a lost response. */
    repeat: async <Name extends InterfaceName>(name: Name, orderId: bigint, expectation: Expectation = {}) => {
      const last = await lastCallAbout(deps.db, orderId, name)
      const body = await log.requireEarlier(requestIn(name, jsonIn(last?.request_body)))
      return call(name, body, { orderId, ...expectation })
    },
  }
}

function answerIn<Name extends InterfaceName>(name: Name, json: unknown): AnswerOf<Name> | undefined {
  const definition = interfaceNamed(name)
  const reading = definition && json !== undefined ? readAnswer(definition, json) : undefined
  return reading?.outcome === 'success' ? (reading.answer as AnswerOf<Name>) : undefined
}

/** The `body` of a request, if it is valid for the interface. */
function requestIn<Name extends InterfaceName>(name: Name, json: unknown): RequestOf<Name> | undefined {
  const { body } = jsonFields(json)
  return interfaceNamed(name)?.request.safeParse(body).success ? (body as RequestOf<Name>) : undefined
}

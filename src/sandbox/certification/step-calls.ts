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

/** The result of an operation, and the partner's last answer of the interface that it was about. */
interface Operated<Name extends InterfaceName, Result> {
  readonly result: Result
  /** The JSON of the answer as it came; undefined where there is none. */
  readonly json: unknown
  readonly answer: AnswerOf<Name> | undefined
}

type StepCallOptions = Omit<CallOptions, 'cause'> & Expectation

/** Calls to the partner during an attempt. Each is written into the log. */
export interface StepCalls {
  /** One call, with the checks that every answer goes through. */
  call<Name extends InterfaceName>(
    name: Name,
    body: RequestOf<Name>,
    options?: StepCallOptions,
  ): Promise<CallResult<AnswerOf<Name>>>
  /** Runs an operation that calls the interface `name`, whose last answer is checked; other calls are only logged. */
  operate<Name extends InterfaceName, Result>(
    name: Name,
    operation: (deps: RunDeps) => Promise<Result>,
    expectation?: Expectation,
  ): Promise<Operated<Name, Result>>
  /** Runs an operation whose calls the step needs before its own. What fails in one of them is a warning. */
  prepare<Result>(operation: (deps: RunDeps) => Promise<Result>): Promise<Result>
  /** Runs an operation while the answer of that interface is lost on the way: the platform hangs up once it has asked. */
  loseAnswer<Result>(name: InterfaceName, operation: (deps: RunDeps) => Promise<Result>): Promise<Result>
  /** Sends the last call of that interface about an order once more, as the platform does when an answer was lost. */
  repeat<Name extends InterfaceName>(
    name: Name,
    orderId: bigint,
    expectation?: Expectation,
  ): Promise<CallResult<AnswerOf<Name>>>
}

export function stepCalls({ deps, partner, expects, advisory, cause }: Attempt, log: AttemptLog): StepCalls {
  const announce = async (name: InterfaceName) => {
    const url = interfaceUrl(partner, name, interfaceNamed(name)?.defaultPath ?? '') ?? ''
    await log.append({ kind: 'calling', data: { interface: name, url: log.mask(url) } })
  }

  const logCall = (call: CallRecord) =>
    log.append({ kind: 'call', data: { call_id: call.call_id, interface: call.interface } })

  /** Both answers to a call that was sent twice have to agree. */
  const logSentAgain = async ({ sentAgain }: MadeCall) => {
    for (const pair of sentAgain) {
      await logCall(pair.again)
      for (const { id, passed, ...more } of sameAnswerFindings(pair)) await log.check(id, passed, more)
    }
  }

  const logMade = async (made: MadeCall) => {
    await logCall(made.call)
    await logSentAgain(made)
  }

  const checkCall = async (call: CallRecord, expectation: Expectation) => {
    const findings = await examineCall(deps, partner.stage, call, expectation)
    // Traffic shows the verdict, so it is kept even if the attempt ends with the next line.
    await judgeCall(deps.db, call.call_id, verdictOf(findings, expects, advisory || expectation.advisory))
    await logCall(call)
    const level = expectation.advisory && { level: 'warning' as const }
    for (const { id, passed, ...more } of findings) await log.check(id, passed, { ...more, ...level })
  }

  const operate: StepCalls['operate'] = async (name, operation, expectation = {}) => {
    await announce(name)
    const { result, calls } = await withCalls(deps, operation)
    const checked = calls.findLast(({ call }) => call.interface === name)
    for (const made of calls) if (made !== checked) await logMade(made)
    if (!checked) return { result, json: undefined, answer: undefined }
    await checkCall(checked.call, expectation)
    await logSentAgain(checked)
    const json = jsonIn(checked.call.response_body)
    return { result, json, answer: answerIn(name, json) }
  }

  const call: StepCalls['call'] = async (
    name,
    body,
    { codes, usual, refusal, advisory: asWarnings, ...options } = {},
  ) => {
    const { result } = await operate(
      name,
      (inside) => callPartner(inside, partner, name, body, { cause, ...options }),
      {
        ...(codes && { codes }),
        ...(usual && { usual }),
        ...(refusal && { refusal }),
        ...(asWarnings && { advisory: asWarnings }),
      },
    )
    return result
  }

  /** The step may do without it, but has to say why it lacks something. */
  const warnOf = async ({ call }: MadeCall) => {
    for (const { id, passed, level, ...more } of await examineCall(deps, partner.stage, call, {})) {
      if (!passed && level !== 'warning') await log.check(id, passed, { ...more, level: 'warning' })
    }
  }

  const observe = async <Result>(
    operation: (inside: RunDeps) => Promise<Result>,
    look: (made: MadeCall) => Promise<void> = async () => {},
  ): Promise<Result> => {
    const { result, calls } = await withCalls(deps, operation)
    for (const made of calls) {
      await logMade(made)
      await look(made)
    }
    return result
  }

  return {
    call,
    operate,
    prepare: (operation) => observe(operation, warnOf),
    loseAnswer: async (name, operation) => {
      await log.append({ kind: 'fault', data: { fault: localized('answer-lost', { interface: name }) } })
      return observe((inside) =>
        operation({
          ...inside,
          calls: { ...inside.calls, faults: { aheadS: deps.calls.faults?.aheadS ?? 0, dropsAnswerOf: name } },
        }),
      )
    },
    repeat: async (name, orderId, expectation = {}) => {
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

/** The field `body` of a request, if it is one that the interface takes. */
function requestIn<Name extends InterfaceName>(name: Name, json: unknown): RequestOf<Name> | undefined {
  const { body } = jsonFields(json)
  return interfaceNamed(name)?.request.safeParse(body).success ? (body as RequestOf<Name>) : undefined
}

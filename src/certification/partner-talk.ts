import type { Deps } from '../deps.ts'
import { type InterfaceName, interfaceNamed } from '../interfaces/index.ts'
import { readAnswer } from '../interfaces/read-answer.ts'
import { parseLossless } from '../lib/json/lossless.ts'
import { breakerForgets } from '../partner-calls/breaker.ts'
import { type AnswerOf, type CallOptions, callPartner, type RequestOf } from '../partner-calls/call-partner.ts'
import type { CallResult } from '../partner-calls/call-result.ts'
import { callsOf, callsSince, findCall, lastCallAbout } from '../partner-calls/call-store.ts'
import { interfaceUrl } from '../registry/partner.ts'
import { AttemptLog, type Stage } from './attempt-log.ts'
import { type Expectation, examine } from './examine.ts'
import { shownFailure } from './reachability.ts'

/** Calls of the partner during an attempt: each leaves its lines in the log and goes through the checks. */
export class PartnerTalk extends AttemptLog {
  constructor(stage: Stage) {
    super(stage)
    // A person presses Start to try; that the partner was down a moment ago is no reason not to.
    breakerForgets(stage.deps, stage.partner.partner_id)
  }

  /** One call of the partner, with the checks that every answer goes through. */
  async call<Name extends InterfaceName>(
    name: Name,
    body: RequestOf<Name>,
    { codes, usual, refusal, ...options }: CallOptions & Expectation = {},
  ): Promise<CallResult<AnswerOf<Name>>> {
    await this.#announce(name)
    const result = await callPartner(this.deps, this.partner, name, body, options)
    await this.#examine(result.callId, name, {
      ...(codes && { codes }),
      ...(usual && { usual }),
      ...(refusal && { refusal }),
    })
    return result
  }

  /**
   * Lets an operation on orders call the partner about an order; `name` is the interface that it calls, and its last
   * answer goes through the checks. The operation's own records move as they do in real life.
   */
  async operate<Result>(
    name: InterfaceName,
    orderId: bigint,
    operation: (deps: Deps) => Promise<Result>,
    expectation: Expectation = {},
  ): Promise<Result> {
    const before = new Set((await callsOf(this.deps.db, orderId)).map(({ call_id }) => call_id))
    await this.#announce(name)
    const result = await operation(this.deps)
    const made = (await callsOf(this.deps.db, orderId)).filter(({ call_id }) => !before.has(call_id))
    const last = made.findLast((call) => call.interface === name)
    for (const call of made) {
      if (call !== last) await this.tell({ kind: 'call', data: { call_id: call.call_id, interface: call.interface } })
    }
    if (last) await this.#examine(last.call_id, name, expectation)
    return result
  }

  /** What an operation asks besides orders (products, prices): its calls stand in the log, unchecked. */
  async prepare<Result>(names: readonly InterfaceName[], work: (deps: Deps) => Promise<Result>): Promise<Result> {
    const asked = { partnerId: this.partner.partner_id, names, since: this.deps.clock.now() }
    const known = new Set((await callsSince(this.deps.db, asked)).map(({ call_id }) => call_id))
    const result = await work(this.deps)
    for (const call of await callsSince(this.deps.db, asked)) {
      if (!known.has(call.call_id)) await this.tell({ kind: 'call', data: call })
    }
    return result
  }

  /** The last call of that interface about an order, sent once more as it was: what a lost answer makes the platform do. */
  async repeat<Name extends InterfaceName>(
    name: Name,
    orderId: bigint,
    expectation: Expectation = {},
  ): Promise<CallResult<AnswerOf<Name>>> {
    const last = await lastCallAbout(this.deps.db, orderId, name)
    await this.requireEarlier(last !== undefined)
    const sent = parseLossless(Buffer.from(last?.request_body ?? ''))
    const { body } = ('value' in sent ? sent.value : {}) as { body: RequestOf<Name> }
    return this.call(name, body, { orderId, ...expectation })
  }

  /** What the partner's last answer of that interface about an order says, if it can be read. */
  async answerAbout<Name extends InterfaceName>(name: Name, orderId: bigint): Promise<AnswerOf<Name> | undefined> {
    const entry = interfaceNamed(name)
    const json = await this.jsonAbout(name, orderId)
    if (!entry || json === undefined) return undefined
    const reading = readAnswer(entry, json)
    return reading.outcome === 'success' ? (reading.answer as AnswerOf<Name>) : undefined
  }

  /** That answer as it came. */
  async jsonAbout(name: InterfaceName, orderId: bigint): Promise<unknown> {
    const last = await lastCallAbout(this.deps.db, orderId, name)
    const parsed = parseLossless(Buffer.from(last?.response_body ?? ''))
    return 'value' in parsed ? parsed.value : undefined
  }

  async #announce(name: InterfaceName): Promise<void> {
    const url = interfaceUrl(this.partner, name, interfaceNamed(name)?.defaultPath ?? '') ?? ''
    await this.tell({ kind: 'calling', data: { interface: name, url: this.mask(url) } })
  }

  async #examine(callId: string, name: InterfaceName, expectation: Expectation): Promise<void> {
    await this.tell({ kind: 'call', data: { call_id: callId, interface: name } })
    const record = await findCall(this.deps.db, this.partner.partner_id, callId)
    if (!record) return
    const { failure, failure_detail: detail } = record
    const told = failure === null ? null : shownFailure(this.deps.config, { kind: failure, detail: detail ?? failure })
    for (const { id, passed, ...more } of examine({ ...record, failure_detail: told?.detail ?? null }, expectation)) {
      await this.check(id, passed, more)
    }
  }
}

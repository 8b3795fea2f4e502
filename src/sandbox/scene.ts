import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'
import type { PartnerWithSecrets } from '../registry/partner.ts'
import { interfaceUrl } from '../registry/partner.ts'
import { breakerForgets } from '../ticketing/breaker.ts'
import { type AnswerOf, type CallOptions, callPartner, type RequestOf } from '../ticketing/call-partner.ts'
import type { CallResult } from '../ticketing/call-result.ts'
import { callsOf, findCall } from '../ticketing/call-store.ts'
import { type InterfaceName, interfaceNamed } from '../ticketing/interfaces/index.ts'
import { appendEvent } from './attempt-store.ts'
import { type CheckId, levelOf } from './checks.ts'
import type { Choice } from './choice.ts'
import type { Finding, Happening } from './event.ts'
import { findLinkedOrder, linkOrder, type Received, receivedSince } from './evidence-store.ts'
import { type Expectation, examine } from './examine.ts'

/** What an order of the run is for. */
export type OrderRole = 'main' | 'later' | 'refund' | 'review' | 'sold-out' | 'close' | 'reschedule' | 'message'

/** The attempt has been ended from outside: by a re-test, or because its process was taken for dead. */
export class AttemptOver extends Error {
  override readonly name = 'AttemptOver'
}

/** A step cannot go on after a check that failed; what was found stands in the log already. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed'
}

interface Stage {
  readonly deps: Deps
  readonly partner: PartnerWithSecrets
  readonly runId: string
  readonly attemptId: string
  readonly choice: Choice
  readonly startedAt: Date
  /** Seconds that a step waits for a notice. */
  readonly patienceS: number
  readonly signal: AbortSignal
}

/** A notice that the step has waited for; `body` is the JSON as it came. */
export interface Wanted {
  /** Below MTP_PATH_PREFIXES. */
  readonly path: string
  readonly about: Readonly<Record<string, string>>
  readonly isIt: (body: string) => boolean
}

const LOOK_EVERY_MS = 200

/** What a step can do while it is made: calls, notices, orders of the run, and checks, each leaving its lines in the log. */
export class Scene {
  readonly #stage: Stage
  #checked = 0
  #failed = 0

  constructor(stage: Stage) {
    this.#stage = stage
    // A person presses Start to try; that the partner was down a moment ago is no reason not to.
    breakerForgets(stage.deps, stage.partner.partner_id)
  }

  get deps(): Deps {
    return this.#stage.deps
  }

  get partner(): PartnerWithSecrets {
    return this.#stage.partner
  }

  get choice(): Choice {
    return this.#stage.choice
  }

  get passed(): boolean {
    return this.#checked > 0 && this.#failed === 0
  }

  async #tell(happening: Happening): Promise<void> {
    const { deps, attemptId, signal } = this.#stage
    if (signal.aborted) throw new AttemptOver()
    if (!(await appendEvent(deps.db, attemptId, happening, deps.clock.now()))) throw new AttemptOver()
  }

  /** Leaves a check in the log and says whether it passed. */
  async check(id: CheckId, passed: boolean, more: Omit<Finding, 'id' | 'passed'> = {}): Promise<boolean> {
    await this.#tell({ kind: 'check', data: { id, passed, ...more } })
    this.#checked++
    if (!passed && levelOf(id) === 'error') this.#failed++
    return passed
  }

  /** A check without which the step cannot go on. */
  async require(id: CheckId, passed: boolean, more: Omit<Finding, 'id' | 'passed'> = {}): Promise<void> {
    if (!(await this.check(id, passed, more))) throw new StepFailed()
  }

  /** One call of the partner, with the checks that every answer goes through. */
  async call<Name extends InterfaceName>(
    name: Name,
    body: RequestOf<Name>,
    { codes, ...options }: CallOptions & Expectation = {},
  ): Promise<CallResult<AnswerOf<Name>>> {
    await this.#announce(name)
    const result = await callPartner(this.deps, this.partner, name, body, options)
    await this.#examine(result.callId, name, codes === undefined ? {} : { codes })
    return result
  }

  /**
   * Lets an operation of ticketing call the partner about an order; `name` is the interface that it calls, and its last
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
      if (call !== last) await this.#tell({ kind: 'call', data: { call_id: call.call_id, interface: call.interface } })
    }
    if (last) await this.#examine(last.call_id, name, expectation)
    return result
  }

  async #announce(name: InterfaceName): Promise<void> {
    const url = interfaceUrl(this.partner, name, interfaceNamed(name)?.defaultPath ?? '') ?? ''
    await this.#tell({ kind: 'calling', data: { interface: name, url } })
  }

  async #examine(callId: string, name: InterfaceName, expectation: Expectation): Promise<void> {
    await this.#tell({ kind: 'call', data: { call_id: callId, interface: name } })
    const record = await findCall(this.deps.db, this.partner.partner_id, callId)
    for (const { id, passed, ...more } of record ? examine(record, expectation) : []) {
      await this.check(id, passed, more)
    }
  }

  /** A new order id that belongs to this run; the order itself is made with it afterwards. */
  async newOrder(role: OrderRole): Promise<bigint> {
    const orderId = 2n ** 62n + (randomBytes(8).readBigUInt64BE() >> 2n)
    await linkOrder(this.deps.db, { orderId, runId: this.#stage.runId, role }, this.deps.clock.now())
    return orderId
  }

  /** The newest order of that role; a step before this one has made it. */
  async orderOf(role: OrderRole): Promise<bigint> {
    const orderId = await findLinkedOrder(this.deps.db, this.#stage.runId, role)
    await this.#requireEarlier(orderId !== undefined)
    return orderId ?? 0n
  }

  async #requireEarlier(made: boolean): Promise<void> {
    if (!made) await this.require('earlier-step', false)
  }

  /** Looks at something again and again until it is there, at most `seconds`. */
  async until(seconds: number, look: () => Promise<boolean>, everyMs = 1_000): Promise<boolean> {
    const end = addSeconds(this.deps.clock.now(), seconds)
    for (;;) {
      if (await look()) return true
      if (this.deps.clock.now() >= end) return false
      await this.#pause(everyMs)
    }
  }

  /**
   * Waits for the partner's notice, which the platform has accepted and acted on by then. One on that path that was
   * refused fails the step at once, with the reason: nobody should wait for what will not come.
   */
  async notice({ path, about, isIt }: Wanted): Promise<Received> {
    const { deps, partner, startedAt, patienceS } = this.#stage
    const until = addSeconds(deps.clock.now(), patienceS)
    await this.#tell({ kind: 'waiting', data: { path, until: until.toISOString(), about } })
    const seen = new Set<string>()
    let found: Received | undefined
    await this.until(
      patienceS,
      async () => {
        const incoming = await receivedSince(deps.db, { partnerId: partner.partner_id, path, since: startedAt })
        for (const call of incoming.filter(({ id }) => !seen.has(id))) {
          seen.add(call.id)
          await this.#tellReceived(call)
          if (call.reason !== null)
            await this.require('notice-accepted', false, { expected: 'code 200', actual: call.reason })
          if (isIt(call.body)) found = call
        }
        return found !== undefined
      },
      LOOK_EVERY_MS,
    )
    if (found) await this.check('notice-accepted', true)
    await this.require('notice-arrived', found !== undefined, {
      expected: `POST ${path}`,
      actual: found ? found.path : 'nothing',
    })
    return found as Received
  }

  #tellReceived({ id, path, reason }: Received): Promise<void> {
    return reason === null
      ? this.#tell({ kind: 'notice', data: { notice_id: id, path } })
      : this.#tell({ kind: 'rejected', data: { call_id: id, path, reason } })
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stage.signal, ref: false }).catch(() => {
      throw new AttemptOver()
    })
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { addSeconds } from '../lib/clock.ts'
import { newOrderId } from '../ticketing/create-order.ts'
import { AttemptOver } from './attempt-log.ts'
import { findLinkedOrder, linkOrder, type Received, receivedSince } from './evidence-store.ts'
import { PartnerTalk } from './partner-talk.ts'

/** What an order of the run is for. */
export type OrderRole =
  | 'main'
  | 'later'
  | 'refund'
  | 'review'
  | 'refund-twice'
  | 'sold-out'
  | 'close'
  | 'reschedule'
  | 'message'

/** A notice that a step waits for. */
export interface Wanted {
  /** Below MTP_PATH_PREFIXES. */
  readonly path: string
  readonly about: Readonly<Record<string, string>>
  readonly isIt: (body: string) => boolean
  /** From when on it counts; else from the start of the attempt. A partner may be quicker than the person at the page. */
  readonly since?: Date
}

const LOOK_EVERY_MS = 200

/** Notices about something else that the log tells of; a live partner sends any number of them meanwhile. */
const MOST_OTHERS = 20

/** What a step can do while it is made: calls, notices, orders of the run, and checks. */
export class Scene extends PartnerTalk {
  /**
   * A new order id that belongs to this run; the order itself is made with it afterwards. Odd and beyond 2^53: a partner
   * that reads it as a double cannot give it back.
   */
  async newOrder(role: OrderRole): Promise<bigint> {
    const orderId = newOrderId() | 1n
    await linkOrder(this.deps.db, { orderId, runId: this.stage.runId, role }, this.deps.clock.now())
    return orderId
  }

  /** The newest order of that role; a step before this one has made it. */
  async orderOf(role: OrderRole): Promise<bigint> {
    const orderId = await findLinkedOrder(this.deps.db, this.stage.runId, role)
    await this.requireEarlier(orderId !== undefined)
    return orderId ?? 0n
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
  async notice({ path, about, isIt, since }: Wanted): Promise<Received> {
    const { deps, partner, startedAt, patienceS } = this.stage
    const until = addSeconds(deps.clock.now(), patienceS)
    await this.tell({ kind: 'waiting', data: { path, until: until.toISOString(), about } })
    const seen = new Set<string>()
    let found: Received | undefined
    await this.until(
      patienceS,
      async () => {
        const accepted = since ?? startedAt
        const { partner_id: partnerId } = partner
        const incoming = { partnerId, path, accepted, refused: startedAt, seen: [...seen] }
        for (const call of await receivedSince(deps.db, incoming)) {
          seen.add(call.id)
          if (isIt(call.body) || call.reason !== null || seen.size <= MOST_OTHERS) await this.#tellReceived(call)
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
      ? this.tell({ kind: 'notice', data: { notice_id: id, path } })
      : this.tell({ kind: 'rejected', data: { call_id: id, path, reason } })
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stage.signal, ref: false }).catch(() => {
      throw new AttemptOver()
    })
  }
}

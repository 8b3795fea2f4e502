import { setTimeout as sleep } from 'node:timers/promises'
import { MOUNT } from '../config/mounts.ts'
import { addSeconds } from '../lib/clock.ts'
import { spellings } from '../mtp/endpoints.ts'
import { newOrderId } from '../orders/create-order.ts'
import { AttemptOver } from './attempt-log.ts'
import type { Waiting } from './event.ts'
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
  readonly isIt: (body: string) => boolean
  /** From when on it counts; else from the start of the attempt. A partner may be quicker than the person at the page. */
  readonly since?: Date
}

/** What has come on the path of a notice, as far as somebody has looked. */
interface Watch {
  /** The notice itself, accepted. */
  found: Received | undefined
  /** The last one that may be anybody's. */
  unverified: Received | undefined
  look(): Promise<Received | undefined>
}

const LOOK_EVERY_MS = 200

/** Notices about something else that the log tells of; a live partner sends any number of them meanwhile. */
const MOST_OTHERS = 20

/** What a step can do while it is made: calls, notices, orders of the run, and checks. */
export class Scene extends PartnerTalk {
  /** A new order id that belongs to this run; the order itself is made with it afterwards. */
  async newOrder(role: OrderRole, bits = this.deps.config.ORDER_ID_BITS): Promise<bigint> {
    const orderId = newOrderId(bits)
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
   * refused fails the step at once, with the reason: nobody should wait for what will not come. One that may be anybody's
   * only stands in the log: a stranger must not be able to end a partner's step.
   */
  async notice(wanted: Wanted & Pick<Waiting, 'about'>): Promise<Received> {
    const { deps, patienceS } = this.stage
    const { path, about } = wanted
    const until = addSeconds(deps.clock.now(), patienceS)
    await this.tell({ kind: 'waiting', data: { path, until: until.toISOString(), about } })
    const seen = this.watch(wanted)
    await this.until(patienceS, async () => (await seen.look()) !== undefined, LOOK_EVERY_MS)
    const { found, unverified } = seen
    await this.require('notice-arrived', found !== undefined, {
      expected: `POST ${path}`,
      actual: found ? found.path : unverified ? `only a call that is not verified: ${unverified.reason}` : 'nothing',
    })
    return found as Received
  }

  /** The same for a notice that may come or not: each `look` tells of what has come since the last one. */
  watch({ path, isIt, since }: Wanted): Watch {
    const { deps, partner, startedAt } = this.stage
    const paths = spellings(deps.config.MTP_PATH_PREFIXES, path.slice(MOUNT.length))
    const seen = new Set<string>()
    let others = 0
    const watch: Watch = {
      found: undefined,
      unverified: undefined,
      look: async () => {
        const { partner_id: partnerId } = partner
        const incoming = { partnerId, paths, accepted: since ?? startedAt, refused: startedAt, seen: [...seen] }
        const before = watch.found
        for (const call of await receivedSince(deps.db, incoming)) {
          seen.add(call.id)
          const refused = call.reason !== null && call.verified
          if (refused || (call.verified && isIt(call.body)) || ++others <= MOST_OTHERS) await this.#tellReceived(call)
          if (!call.verified) {
            watch.unverified = call
            continue
          }
          if (call.reason !== null)
            await this.require('notice-accepted', false, { expected: 'code 200', actual: call.reason })
          if (isIt(call.body)) watch.found = call
        }
        if (watch.found && !before) await this.check('notice-accepted', true)
        return watch.found
      },
    }
    return watch
  }

  #tellReceived({ id, path, reason, verified }: Received): Promise<void> {
    if (reason === null) return this.tell({ kind: 'notice', data: { notice_id: id, path } })
    return this.tell({ kind: verified ? 'rejected' : 'unverified', data: { call_id: id, path, reason } })
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.stage.signal, ref: false }).catch(() => {
      throw new AttemptOver()
    })
  }
}

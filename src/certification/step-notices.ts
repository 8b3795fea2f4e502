import { setTimeout as sleep } from 'node:timers/promises'
import { addSeconds } from '../lib/clock.ts'
import { type ReceivedCall, receivedSince } from '../mtp/index.ts'
import { type Attempt, type AttemptLog, AttemptOver } from './attempt-log.ts'
import type { Waiting } from './event.ts'

/** A notice that a step waits for. */
interface ExpectedNotice {
  /** Below MTP_PATH_PREFIXES. */
  readonly path: string
  readonly isIt: (body: string) => boolean
  /** From when on it counts; else from the start of the attempt. A partner may send it before the person presses Start. */
  readonly since?: Date
}

/** What has come on the path of a notice so far. */
interface NoticeWatch {
  /** Writes into the log what has come since the last look; returns the notice once it was accepted. */
  look(): Promise<ReceivedCall | undefined>
  /** The last call that does not count: anybody may have sent it, or its path does not exist. */
  uncounted(): ReceivedCall | undefined
}

const LOOK_EVERY_MS = 200

/** Notices about something else that are written into the log; a live partner sends any number of them meanwhile. */
const MOST_OTHERS = 20

export interface StepNotices {
  /**
   * Waits for the partner's notice, which the platform has accepted and acted on when this returns. One on that path that
   * was refused fails the step at once, with the reason. One that anybody may have sent is only logged: a stranger must
   * not be able to end a partner's step. So is one to a path that does not exist.
   */
  waitForNotice(expected: ExpectedNotice & Pick<Waiting, 'about'>): Promise<ReceivedCall>
  /** The same for a notice that may come or not; the step looks by itself. */
  watchNotices(expected: ExpectedNotice): NoticeWatch
  /** Asks again and again until the answer is true; false after `seconds`. */
  until(seconds: number, isThere: () => Promise<boolean>, everyMs?: number): Promise<boolean>
}

export function stepNotices(attempt: Attempt, log: AttemptLog): StepNotices {
  const { deps, partner, startedAt, patienceS, signal } = attempt

  const pause = (ms: number) =>
    sleep(ms, undefined, { signal, ref: false }).catch(() => {
      throw new AttemptOver()
    })

  const until: StepNotices['until'] = async (seconds, isThere, everyMs = 1_000) => {
    const end = addSeconds(deps.clock.now(), seconds)
    for (;;) {
      if (await isThere()) return true
      if (deps.clock.now() >= end) return false
      await pause(everyMs)
    }
  }

  const logReceived = async ({ id, path, reason, verified, wrong_path }: ReceivedCall) => {
    if (reason === null) return log.append({ kind: 'notice', data: { notice_id: id, path } })
    const kind = wrong_path ? 'wrong-path' : verified ? 'rejected' : 'unverified'
    return log.append({ kind, data: { call_id: id, path, reason } })
  }

  const watchNotices: StepNotices['watchNotices'] = ({ path, isIt, since }) => {
    const seen = new Set<string>()
    let [found, uncounted]: (ReceivedCall | undefined)[] = []
    let others = 0
    const look = async () => {
      const before = found
      const times = { accepted: since ?? startedAt, refused: startedAt }
      for (const call of await receivedSince(deps, {
        partnerId: partner.partner_id,
        path,
        ...times,
        seen: [...seen],
      })) {
        seen.add(call.id)
        const counts = call.verified && !call.wrong_path
        const isRefused = call.reason !== null && counts
        if (isRefused || (counts && isIt(call.body)) || ++others <= MOST_OTHERS) await logReceived(call)
        if (isRefused) await log.require('notice-accepted', false, { expected: 'code 200', actual: call.reason ?? '' })
        if (!counts) uncounted = call
        else if (isIt(call.body)) found = call
      }
      if (found && !before) await log.check('notice-accepted', true)
      return found
    }
    return { look, uncounted: () => uncounted }
  }

  return {
    until,
    watchNotices,
    waitForNotice: async (expected) => {
      const { path, about } = expected
      const end = addSeconds(deps.clock.now(), patienceS)
      await log.append({ kind: 'waiting', data: { path, until: end.toISOString(), about } })
      const watch = watchNotices(expected)
      let found: ReceivedCall | undefined
      const isThere = async () => {
        found = await watch.look()
        return found !== undefined
      }
      await until(patienceS, isThere, LOOK_EVERY_MS)
      const uncounted = watch.uncounted()
      const instead = uncounted ? insteadOf(uncounted) : 'nothing'
      const details = { expected: `POST ${path}`, actual: found?.path ?? instead }
      await log.require('notice-arrived', found !== undefined, details)
      return found as ReceivedCall
    },
  }
}

const insteadOf = ({ wrong_path, path, reason }: ReceivedCall): string =>
  wrong_path ? `only a call to ${path}: ${reason}` : `only a call that is not verified: ${reason}`

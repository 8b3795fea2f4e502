import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Delivery } from './delivery.ts'
import { writeJson } from './json.ts'
import type { Settings } from './settings.ts'

/** A notice to the platform, and its delivery state. */
export interface Notice {
  readonly path: string
  readonly message: object
  attempts: number
  acknowledged: boolean
  /** The last response of the platform, or why it could not be reached. */
  lastAnswer: string
  /** Fulfilled after the first attempt, whatever came of it. */
  firstAttempt: Promise<void>
}

/** The notices to be sent to the platform. Keep them in your database: a notice must survive a restart. */
export interface Outbox {
  readonly notices: readonly Notice[]
  post(path: string, message: object): Notice
  close(): void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

/** Doubles with each attempt; the random half keeps many notices from coming back all at once. */
const pauseAfter = (attempts: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)

/** Each notice is sent until it is acknowledged with code 200; one that is stuck does not hold up the others. */
export function openOutbox({ partnerId, log }: Pick<Settings, 'partnerId' | 'log'>, deliver: Delivery): Outbox {
  const notices: Notice[] = []
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one for each notice on its way

  async function attempt(notice: Notice, text: string): Promise<void> {
    notice.attempts += 1
    const answer = await deliver(notice.path, text, closing.signal)
    notice.acknowledged = answer.code === 200
    notice.lastAnswer = `${answer.code ?? 'no response'}: ${answer.describe}`
    if (!notice.acknowledged)
      log.warn({ path: notice.path, answer }, 'the notice was not acknowledged and will be sent again')
  }

  async function keepSending(notice: Notice, text: string): Promise<void> {
    await notice.firstAttempt
    while (!notice.acknowledged) {
      await sleep(pauseAfter(notice.attempts), undefined, { signal: closing.signal })
      await attempt(notice, text)
    }
  }

  return {
    notices,
    post(path, message) {
      const notice: Notice = {
        path,
        message,
        attempts: 0,
        acknowledged: false,
        lastAnswer: '',
        firstAttempt: Promise.resolve(),
      }
      // Serialised once: a retry sends exactly the same bytes, so the platform recognises it.
      const text = writeJson({ partnerId: Number(partnerId), ...message })
      notices.push(notice)
      notice.firstAttempt = attempt(notice, text)
      // Only closing ends it before the acknowledgement.
      keepSending(notice, text).catch(() => undefined)
      return notice
    },
    close: () => closing.abort(),
  }
}

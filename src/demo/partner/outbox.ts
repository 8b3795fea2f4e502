import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { ENCRYPTION_HEADER, encrypted } from './encryption.ts'
import { authorization } from './signature.ts'
import { fieldsOf, readJson, whole, writeJson } from './wire.ts'

export interface Settings {
  /** What the platform's business contact has given to this seller. */
  readonly partnerId: string
  readonly clientId: string
  /** On the server only: never in a log, a page or an app. */
  readonly clientSecret: string
  /** The AES key for bodies, a separate secret; undefined: bodies are not encrypted. */
  readonly aesKey?: string | undefined
  /** Where notices go; may end in a path prefix, such as /rhone. */
  readonly platformUrl: string
  readonly log: FastifyBaseLogger
  /** The time; handed in so that tests can hold it still. */
  readonly now: () => Date
}

/** The response of the platform; without a code it could not be understood, or the platform could not be reached. */
interface Reply {
  readonly code: number | undefined
  readonly describe: string
}

/** Sends one text to one path of the platform; it never throws. */
export type Delivery = (path: string, text: string, signal: AbortSignal) => Promise<Reply>

export const LEVEL_PRICES = '/mtp/api/level/price/notice/v2'

const TIMEOUT_MS = 10_000

/** A delivery with a fresh Date and signature each time: a repeated call with an old Date would be refused. */
export const signedDelivery =
  (settings: Settings): Delivery =>
  async (path, text, signal) => {
    try {
      return await post(settings, path, text, signal)
    } catch (error) {
      return { code: undefined, describe: (error as Error).message }
    }
  }

async function post(settings: Settings, path: string, text: string, signal: AbortSignal): Promise<Reply> {
  const { partnerId, clientId, clientSecret, platformUrl, now } = settings
  const url = new URL(platformUrl.replace(/\/+$/, '') + path)
  const date = now().toUTCString()
  // Level prices are the only encrypted notices.
  const key = path === LEVEL_PRICES ? settings.aesKey : undefined
  const { request } = await import('undici') // with the first notice: the demo starts faster
  const { body } = await request(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      PartnerId: partnerId,
      Date: date,
      // The whole path is signed, with the prefix that the platform's address may have.
      Authorization: authorization(clientId, clientSecret, { method: 'POST', path: url.pathname, date }),
      ...(key === undefined ? {} : { AppKey: clientId, [ENCRYPTION_HEADER]: 'encrypted' }),
    },
    body: key === undefined ? text : encrypted(key, text),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    signal,
  })
  // The HTTP status says little in this protocol; the code in the envelope counts.
  const answer = fieldsOf(readJson(await body.text()), 'the answer')
  return { code: whole(answer, 'code'), describe: String(answer.describe ?? '') }
}

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

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { ENCRYPTION_HEADER, encrypted } from './encryption.ts'
import { authorization } from './signature.ts'
import { fieldsOf, readJson, whole, writeJson } from './wire.ts'

export interface Settings {
  /** Credentials from the platform's business contact. */
  readonly partnerId: string
  readonly clientId: string
  /** Keep it on the server: never in a log, a page or an app. */
  readonly clientSecret: string
  /** The AES key for bodies, a separate secret; without it bodies are not encrypted. */
  readonly aesKey?: string | undefined
  /** Where notices go; may end in a path prefix, such as /rhone. */
  readonly platformUrl: string
  readonly log: FastifyBaseLogger
  /** The clock, which tests can stop. */
  readonly now: () => Date
}

/** The platform's response; without a code it was unreadable, or the platform could not be reached. */
interface Reply {
  readonly code: number | undefined
  readonly describe: string
}

/** Sends a text to a path of the platform; never throws. */
export type Delivery = (path: string, text: string, signal: AbortSignal) => Promise<Reply>

export const LEVEL_PRICES = '/mtp/api/level/price/notice/v2'

const TIMEOUT_MS = 10_000

/** Signs each attempt with a fresh Date: a repeated call with an old Date would be refused. */
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
  const { request } = await import('undici') // on the first notice, so that the demo starts faster
  const { body } = await request(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      PartnerId: partnerId,
      Date: date,
      // The whole path is signed, including a prefix of the platform's address.
      Authorization: authorization(clientId, clientSecret, { method: 'POST', path: url.pathname, date }),
      ...(key === undefined ? {} : { AppKey: clientId, [ENCRYPTION_HEADER]: 'encrypted' }),
    },
    body: key === undefined ? text : encrypted(key, text),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    signal,
  })
  // The code in the envelope counts; the HTTP status says little in this protocol.
  const answer = fieldsOf(readJson(await body.text()), 'the answer')
  return { code: whole(answer, 'code'), describe: String(answer.describe ?? '') }
}

/** A notice to the platform, and its delivery state. */
export interface Notice {
  readonly path: string
  readonly message: object
  attempts: number
  refusals: number
  acknowledged: boolean
  /** The platform kept refusing it, or too many waited. */
  givenUp: boolean
  /** The last response of the platform, or why it could not be reached. */
  lastAnswer: string
  /** Fulfilled after the first attempt, successful or not. */
  firstAttempt: Promise<void>
}

/** The newest notices, sent or to be sent. Keep yours in your database: a notice must survive a restart. */
export interface Outbox {
  readonly notices: readonly Notice[]
  post(path: string, message: object): Notice
  close(): void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** The code of a refusal. Others may change: of a pay notice (400), or of a platform that is overloaded or away. */
const REFUSED = 300
/** Two minutes of refusals, in which somebody may set right what was wrong. */
const MOST_REFUSALS = 8
const MOST_KEPT = 1_000

const isSettled = ({ acknowledged, givenUp }: Notice): boolean => acknowledged || givenUp

/** Doubles with each attempt; the random half spreads out the retries of many notices. */
const pauseAfter = (attempts: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)

/** Sends each notice until it is acknowledged with code 200 or given up, independently of the others. */
export function openOutbox(
  { partnerId, log }: Pick<Settings, 'partnerId' | 'log'>,
  deliver: Delivery,
  pause = pauseAfter,
): Outbox {
  const notices: Notice[] = []
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one for each notice being sent

  async function attempt(notice: Notice, text: string): Promise<void> {
    notice.attempts += 1
    const answer = await deliver(notice.path, text, closing.signal)
    if (answer.code === REFUSED) notice.refusals += 1
    notice.acknowledged = answer.code === 200
    notice.givenUp ||= !notice.acknowledged && notice.refusals >= MOST_REFUSALS
    notice.lastAnswer = `${answer.code ?? 'no response'}: ${answer.describe}`
    const outcome = notice.givenUp ? 'was refused and is given up' : 'will be sent again'
    if (!notice.acknowledged) log.warn({ path: notice.path, answer }, `the notice ${outcome}`)
  }

  async function keepSending(notice: Notice, text: string): Promise<void> {
    await notice.firstAttempt
    while (!isSettled(notice)) {
      await sleep(pause(notice.attempts), undefined, { signal: closing.signal })
      if (!notice.givenUp) await attempt(notice, text)
    }
  }

  /** The oldest makes room: one that is settled, or else one that is then given up. */
  function keep(notice: Notice): void {
    notices.push(notice)
    if (notices.length <= MOST_KEPT) return
    const [oldest] = notices.splice(Math.max(0, notices.findIndex(isSettled)), 1)
    if (!oldest || isSettled(oldest)) return
    oldest.givenUp = true
    log.warn({ path: oldest.path }, 'too many notices wait: the oldest is given up')
  }

  return {
    notices,
    post(path, message) {
      const notice: Notice = {
        path,
        message,
        attempts: 0,
        refusals: 0,
        acknowledged: false,
        givenUp: false,
        lastAnswer: '',
        firstAttempt: Promise.resolve(),
      }
      // Serialised once, so that retries send the same bytes and the platform recognises them.
      const text = writeJson({ partnerId: BigInt(partnerId), ...message })
      keep(notice)
      notice.firstAttempt = attempt(notice, text)
      // Rejects only when the outbox closes.
      keepSending(notice, text).catch(() => undefined)
      return notice
    },
    close: () => closing.abort(),
  }
}

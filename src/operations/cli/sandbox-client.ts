import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { systemClock } from '../../platform/lib/clock.ts'
import { authorizationHeader, formatHttpDate } from '../../platform/lib/crypto/signing.ts'
import { jsonIn, stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { pathAsSent } from '../../platform/lib/web/request-target.ts'
import { exchange } from './request.ts'

/** The caller of the headless API, and its address. */
export interface SandboxCaller {
  /** Address of the platform, such as `http://localhost:3000`. */
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  /** Only live partners may leave it out. */
  readonly partnerId: string | undefined
}

/** The platform has answered code 300. */
export class SandboxAnswer extends Error {
  override readonly name = 'SandboxAnswer'
}

const BA_HINT = 'check clientId, clientSecret, PartnerId (--partner-id) and the clock of this machine'
const TRIES = 5
const RETRY_S = 1

const envelope = z.looseObject({ code: z.number(), describe: z.string() })

/** Aborts after this time, with these words as the reason. Does not keep the process running. */
export function timeLimit(seconds: number, words: string): AbortSignal {
  const limit = new AbortController()
  setTimeout(() => limit.abort(new Error(words)), seconds * 1_000).unref()
  return limit.signal
}

const ANSWER_S = 30

/** The limit of everything that does not drive a run. */
export const answerLimit = (): AbortSignal => timeLimit(ANSWER_S, `no answer within ${ANSWER_S} s`)

/** Calls /sandbox/api as the partner; retries while the platform is busy or unreachable, until `signal` aborts. */
export class SandboxClient {
  readonly #caller: SandboxCaller
  readonly #signal: AbortSignal

  constructor(caller: SandboxCaller, signal: AbortSignal) {
    this.#caller = caller
    this.#signal = signal
  }

  /** `leaving` aborts this request alone, with its reason. */
  async get<T>(shape: z.ZodType<T>, path: string, leaving?: AbortSignal): Promise<T> {
    return shape.parse(this.#read(await this.#text('GET', path, '', leaving)))
  }

  async post<T>(shape: z.ZodType<T>, path: string, body: object = {}): Promise<T> {
    return shape.parse(this.#read(await this.#text('POST', path, stringifyLossless(body))))
  }

  async xml(path: string): Promise<string> {
    const text = await this.#text('GET', path)
    if (!text.startsWith('<?xml')) this.#read(text)
    return text
  }

  /** Returns the response body, JSON or not. */
  async #text(method: 'GET' | 'POST', path: string, body = '', leaving?: AbortSignal): Promise<string> {
    const signal = leaving ? AbortSignal.any([this.#signal, leaving]) : this.#signal
    for (let tried = 1; ; tried++) {
      const last = tried === TRIES
      let unanswered: Error | undefined
      const answer = await this.#send(method, path, body, signal).catch((error: Error) => {
        signal.throwIfAborted()
        unanswered = new Error(`${this.#caller.url} does not respond: ${error.message}`, { cause: error })
        if (last) throw unanswered
      })
      if (answer && (last || ![429, 503].includes(answer.status))) return answer.text
      await sleep((answer?.retryS ?? RETRY_S) * 1_000, undefined, { signal }).catch((error: Error) => {
        // Why nothing was answered says more than that time is up.
        if (unanswered && this.#signal.aborted) throw unanswered
        signal.throwIfAborted()
        throw error
      })
    }
  }

  async #send(method: 'GET' | 'POST', path: string, body: string, signal: AbortSignal) {
    const { url, clientId, clientSecret, partnerId } = this.#caller
    const target = `${url.replace(/\/+$/, '')}/sandbox/api${path}`
    const date = formatHttpDate(systemClock.now())
    const signed = { method, path: pathAsSent(target), date }
    const answer = await exchange(new URL(target), {
      method,
      headers: {
        ...(partnerId === undefined ? {} : { PartnerId: partnerId }),
        Date: date,
        Authorization: authorizationHeader(clientId, clientSecret, signed),
        'Content-Type': 'application/json; charset=utf-8',
      },
      body,
      signal,
      timeoutMs: 60_000,
    })
    const retryS = Math.min(60, Math.max(RETRY_S, Number(answer.headers['retry-after'] ?? 0) || 0))
    return { status: answer.statusCode ?? 0, text: await text(answer), retryS }
  }

  #read(text: string): unknown {
    const read = envelope.safeParse(jsonIn(text))
    if (!read.success) throw new Error(`${this.#caller.url} responds, but not as Gatehouse does: ${text.slice(0, 200)}`)
    const { code, describe } = read.data
    if (code === 200) return read.data
    throw new SandboxAnswer(describe === 'BA verification failed' ? `${describe}; ${BA_HINT}` : describe)
  }
}

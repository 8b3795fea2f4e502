import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../bench/statistics.ts'
import { ms, percent } from './scenario.ts'

export interface Call {
  readonly method: 'GET' | 'POST'
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The outcome of one call. */
export interface Outcome {
  /** 0 if there was no response. */
  readonly status: number
  /** The reason if there was no response. */
  readonly failure?: string
  readonly ms: number
  readonly text?: string
  readonly retryAfter?: string | undefined
}

/** Opens as many connections as there are pending calls, so that none waits in this process. */
const agent = new Agent({ keepAlive: true })

/** Makes one call; gives up after `patienceMs`. Never rejects. */
export function call(
  port: number,
  { method, target, headers, body }: Call,
  patienceMs: number,
  localAddress?: string,
): Promise<Outcome> {
  const began = performance.now()
  return new Promise((resolve) => {
    const end = (status: number, more: Pick<Outcome, 'failure' | 'text' | 'retryAfter'>) =>
      resolve({ status, ms: performance.now() - began, ...more })
    const sent = request(
      { agent, host: '127.0.0.1', port, localAddress, method, path: target, headers: { ...headers } },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part) => (text += part))
        answer.once('end', () => end(answer.statusCode ?? 0, { text, retryAfter: answer.headers['retry-after'] }))
        answer.once('error', (error: Error) => end(0, { failure: error.message }))
      },
    )
    const signal = setTimeout(() => sent.destroy(new Error('no answer')), patienceMs)
    sent.once('close', () => clearTimeout(signal))
    sent.once('error', (error: NodeJS.ErrnoException) => end(0, { failure: error.code ?? error.message }))
    sent.end(body)
  })
}

/** Calls at a steady rate for some seconds, regardless of responses; resolves when the last one has ended. */
export async function callsAt(
  perSecond: number,
  seconds: number,
  port: number,
  next: () => Call,
  patienceMs: number,
  localAddress?: string,
): Promise<Outcome[]> {
  const running: Promise<Outcome>[] = []
  const began = performance.now()
  for (let n = 0; n < perSecond * seconds; n++) {
    await sleep(Math.max(0, began + (n * 1000) / perSecond - performance.now()))
    running.push(call(port, next(), patienceMs, localAddress))
  }
  return Promise.all(running)
}

export const count = (outcomes: readonly Outcome[], status: number): number =>
  outcomes.filter((outcome) => outcome.status === status).length

/** Maximum and median, then the numbers of 503 and of calls without a response. */
export function waitsText(outcomes: readonly Outcome[]): string {
  const waits = outcomes.map((outcome) => outcome.ms).sort((one, other) => one - other)
  const unanswered = count(outcomes, 0)
  const parts = [
    `${ms(waits.at(-1) ?? 0)} at most, ${ms(percentile(waits, 0.5))} in the middle`,
    `503: ${percent(count(outcomes, 503), outcomes.length)}`,
  ]
  if (unanswered > 0) parts.push(`no answer: ${unanswered}`)
  return parts.join('; ')
}

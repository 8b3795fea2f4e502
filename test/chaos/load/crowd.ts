import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../../bench/statistics.ts'

/** A load of many callers with one request at a time each, sent by the main process to the load process. */
export interface Crowd {
  readonly port: number
  /** Raw requests, used in turn. */
  readonly requests: readonly string[]
  readonly callers: number
  readonly seconds: number
  /** Before `seconds`, not measured. */
  readonly warmUpS: number
  /** Whether callers retry a 503 after Retry-After, or immediately. */
  readonly heedsRetryAfter: boolean
}

export interface CrowdResult {
  /** Successful responses per second. */
  readonly goodPerSecond: number
  readonly good: number
  readonly refused: number
  /** Other responses and closed connections. */
  readonly failed: number
  /** Of successful responses, milliseconds; NaN if there were none. */
  readonly p99: number
  readonly longest: number
  /** Of responses with 503, milliseconds. */
  readonly refusalP99: number
  /** CPU used by the load itself, in cores. */
  readonly cores: number
}

const HEAD_END = '\r\n\r\n'
const OPENED_AT_ONCE = 50

interface Answer {
  readonly status: number
  readonly retryAfterS: number
  readonly ms: number
}

/** A caller with its own keep-alive connection. */
class Caller {
  readonly socket: Socket
  #sentAt = 0
  #received = ''
  readonly #onAnswer: (caller: Caller, answer: Answer) => void

  constructor(port: number, onAnswer: (caller: Caller, answer: Answer) => void, onClose: () => void) {
    this.#onAnswer = onAnswer
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.socket.setEncoding('latin1').on('data', (text: string) => this.#read(text))
    this.socket.on('error', () => {}).on('close', onClose)
  }

  send(request: string): void {
    this.#sentAt = performance.now()
    this.socket.write(request, 'latin1')
  }

  #read(text: string): void {
    const received = this.#received + text
    this.#received = received
    const end = received.indexOf(HEAD_END)
    if (end < 0) return
    const head = received.slice(0, end + 2)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (received.length < end + HEAD_END.length + Number(length ?? 0)) return
    this.#received = ''
    const status = Number(received.slice(9, 12))
    const retryAfterS = status === 503 ? Number(/\r\nretry-after: *(\d+)/i.exec(head)?.[1] ?? 0) : 0
    this.#onAnswer(this, { status, retryAfterS, ms: performance.now() - this.#sentAt })
  }
}

export async function gather(crowd: Crowd): Promise<CrowdResult> {
  const { port, requests, callers: count, seconds, warmUpS, heedsRetryAfter } = crowd
  const answered: number[] = []
  const refusals: number[] = []
  let failed = 0
  let measuring = false
  let over = false
  let sent = 0
  const sendNext = (caller: Caller): void => {
    if (!over) caller.send(requests[sent++ % requests.length] as string)
  }
  const onAnswer = (caller: Caller, { status, retryAfterS, ms }: Answer): void => {
    if (measuring && status === 200) answered.push(ms)
    else if (measuring && status === 503) refusals.push(ms)
    else if (measuring) failed++
    // With random jitter, as independent callers would not retry at the same moment.
    if (status === 503 && heedsRetryAfter) setTimeout(sendNext, retryAfterS * 1000 * (1 + Math.random() / 2), caller)
    else sendNext(caller)
  }
  const onClose = (): void => {
    if (!over) failed++
  }
  const callers: Caller[] = []
  // Few at a time: an overflow of the listen backlog would cost a second.
  while (callers.length < count) {
    const length = Math.min(OPENED_AT_ONCE, count - callers.length)
    const opened = Array.from({ length }, () => new Caller(port, onAnswer, onClose))
    await Promise.all(opened.map(({ socket }) => once(socket, 'connect')))
    callers.push(...opened)
  }
  for (const caller of callers) sendNext(caller)
  await sleep(warmUpS * 1000)
  const cpuBefore = process.cpuUsage()
  const began = performance.now()
  measuring = true
  await sleep(seconds * 1000)
  measuring = false
  const cpu = process.cpuUsage(cpuBefore)
  const took = (performance.now() - began) / 1000
  over = true
  for (const { socket } of callers) socket.destroy()
  const sorted = Float64Array.from(answered).sort()
  return {
    goodPerSecond: answered.length / took,
    good: answered.length,
    refused: refusals.length,
    failed,
    p99: sorted.length > 0 ? percentile(sorted, 0.99) : Number.NaN,
    longest: sorted.at(-1) ?? Number.NaN,
    refusalP99: refusals.length > 0 ? percentile(Float64Array.from(refusals).sort(), 0.99) : Number.NaN,
    cores: (cpu.user + cpu.system) / 1e6 / took,
  }
}

import { performance } from 'node:perf_hooks'
import { percentile } from '../statistics.ts'
import { type Answer, answerChecker } from './answer.ts'
import type { Turn, TurnResult } from './ask.ts'
import { type Connection, openConnection } from './connection.ts'
import type { Prepared } from './list.ts'

/** Timers may fire this late because of their resolution; any further delay counts as waiting time. */
const TIMER_RESOLUTION_MS = 2
const SILENCE_MS = 10_000
const TOKENS_TO_TRY = 20
/** Interval of background requests, which have their own connections. */
const BESIDE_EVERY_MS = 20
/**
 * At most as many as may queue (SIGN_IN_QUEUE). If passwords arrive faster than they can be hashed, some are still rejected
 * after waiting for QUEUE_WAIT_MS (answer.ts).
 */
const BESIDE_CONNECTIONS = 50

interface InFlight {
  readonly asked: Prepared
  /** When it was sent or, in an open loop, due. Like all times here, milliseconds of the monotonic clock. */
  readonly since: number
}

/** Runs one turn. Rejects on the first wrong response, closed connection or long silence. */
export async function runTurn(turn: Turn, list: readonly Prepared[], onMeasuring: () => void): Promise<TurnResult> {
  const running = new RunningTurn(turn, list)
  try {
    return await running.run(onMeasuring)
  } finally {
    running.close()
  }
}

class RunningTurn {
  readonly #turn: Turn
  readonly #list: readonly Prepared[]
  readonly #beside: readonly Prepared[]
  readonly #checker = answerChecker()
  readonly #connections: Connection[] = []
  readonly #inFlight = new Map<Connection, InFlight>()
  readonly #idle: Connection[] = []
  readonly #idleBeside: Connection[] = []
  /** Open loop: due times of requests that found every connection busy. */
  readonly #overdue: number[] = []
  readonly #latencies: number[] = []
  readonly #timers: NodeJS.Timeout[] = []
  #asked = 0
  #refused = 0
  #slowest = 0
  #answered = 0
  #nextDue = 0
  #measuresFrom = Number.POSITIVE_INFINITY
  #endsAt = Number.POSITIVE_INFINITY
  #lastAnswerAt = 0
  #cpuBefore = process.cpuUsage()
  #onMeasuring: () => void = () => {}
  #over: () => void = () => {}
  #fail: (error: Error) => void = () => {}

  constructor(turn: Turn, list: readonly Prepared[]) {
    this.#turn = turn
    this.#list = list.filter(({ expect }) => expect.kind !== 'beside')
    this.#beside = list.filter(({ expect }) => expect.kind === 'beside')
  }

  async run(onMeasuring: () => void): Promise<TurnResult> {
    const { connections, port, perSecond, overload } = this.#turn
    const ended = new Promise<void>((resolve, reject) => {
      this.#over = resolve
      this.#fail = reject
    })
    ended.catch(() => {}) // it is awaited only below, maybe after it was rejected
    const open = async (): Promise<Connection> => {
      const onAnswer = (connection: Connection, answer: Answer) => this.#onAnswer(connection, answer)
      const opened = await openConnection(port, onAnswer, (error) => this.#fail(error), overload)
      this.#connections.push(opened)
      return opened
    }
    while (this.#connections.length < connections) await open()
    const now = performance.now()
    this.#nextDue = now
    this.#onMeasuring = onMeasuring
    this.#timers.push(this.#watch())
    if (perSecond === undefined) for (const connection of this.#connections) this.#send(connection, now)
    else {
      this.#idle.push(...this.#connections)
      this.#timers.push(setInterval(() => this.#sendDue(perSecond), 1))
    }
    if (this.#beside.length > 0) {
      while (this.#idleBeside.length < BESIDE_CONNECTIONS) this.#idleBeside.push(await open())
      this.#timers.push(setInterval(() => this.#sendBeside(), BESIDE_EVERY_MS))
    }
    await ended
    return this.#result()
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    for (const connection of this.#connections) connection.close()
  }

  /** The clock starts with the first response, however long that takes. */
  #startClock(now: number): void {
    const { warmUpS, seconds } = this.#turn
    this.#measuresFrom = now + warmUpS * 1000
    this.#endsAt = this.#measuresFrom + seconds * 1000
    const measuring = () => {
      this.#cpuBefore = process.cpuUsage()
      this.#onMeasuring()
    }
    this.#timers.push(setTimeout(measuring, warmUpS * 1000))
  }

  #watch(): NodeJS.Timeout {
    let answeredBefore = -1
    return setInterval(() => {
      if (this.#answered === answeredBefore) this.#fail(new Error(`no answer for ${SILENCE_MS / 1000} seconds`))
      answeredBefore = this.#answered
    }, SILENCE_MS)
  }

  #next(): Prepared | undefined {
    const { order } = this.#turn
    return this.#list[order === 'once' ? this.#asked : Math.floor(Math.random() * this.#list.length)]
  }

  /** Sends the next request, or makes the connection idle if the time is up or the list used up. */
  #send(connection: Connection, since: number): void {
    const asked = performance.now() < this.#endsAt ? this.#next() : undefined
    if (!asked) {
      this.#idle.push(connection)
      if (this.#inFlight.size === 0) this.#over()
      return
    }
    this.#asked++
    this.#inFlight.set(connection, { asked, since })
    connection.send(asked.request)
  }

  #onAnswer(connection: Connection, answer: Answer): void {
    const now = performance.now()
    const found = this.#inFlight.get(connection)
    if (!found) throw new Error('an answer that nobody asked for')
    this.#inFlight.delete(connection)
    if (found.asked.expect.kind === 'beside') {
      this.#checker.check(answer, found.asked)
      this.#idleBeside.push(connection)
      if (now >= this.#endsAt && this.#inFlight.size === 0) this.#over()
      return
    }
    const refused = this.#turn.overload && answer.status === 503
    if (!refused) this.#checker.check(answer, found.asked)
    if (this.#answered === 0) this.#startClock(now)
    this.#answered++
    this.#lastAnswerAt = now
    if (now >= this.#measuresFrom && now < this.#endsAt) this.#count(now - found.since, refused)
    const closedLoop = this.#turn.perSecond === undefined
    const since = closedLoop || now >= this.#endsAt ? now : this.#overdue.shift()
    if (since === undefined) this.#idle.push(connection)
    else this.#send(connection, since)
  }

  /** Sends one background request if a connection is free and the time is not up. */
  #sendBeside(): void {
    const now = performance.now()
    const connection = now < this.#endsAt ? this.#idleBeside.pop() : undefined
    if (!connection) return
    const asked = this.#beside[Math.floor(Math.random() * this.#beside.length)] as Prepared
    this.#inFlight.set(connection, { asked, since: now })
    connection.send(asked.request)
  }

  #count(took: number, refused: boolean): void {
    this.#slowest = Math.max(this.#slowest, took)
    if (refused) this.#refused++
    else this.#latencies.push(took)
  }

  /** Open loop: requests are due at random times (a Poisson process), regardless of earlier responses. */
  #sendDue(perSecond: number): void {
    const now = performance.now()
    if (now >= this.#endsAt && this.#inFlight.size === 0) this.#over()
    while (this.#nextDue <= Math.min(now, this.#endsAt)) {
      const since = now - this.#nextDue <= TIMER_RESOLUTION_MS ? now : this.#nextDue
      const connection = this.#idle.pop()
      if (connection) this.#send(connection, since)
      else if (!this.#turn.overload) this.#overdue.push(since)
      this.#nextDue += (-Math.log(1 - Math.random()) * 1000) / perSecond
    }
  }

  #result(): TurnResult {
    const answers = this.#latencies.length
    if (answers === 0) {
      const usedUp = this.#turn.order === 'once' && this.#asked >= this.#list.length
      throw new Error(usedUp ? 'the list was used up in the warm-up' : 'no answer came in the measured time')
    }
    const sorted = Float64Array.from(this.#latencies).sort()
    const cpu = process.cpuUsage(this.#cpuBefore)
    return {
      answers,
      answersWithWarmUp: this.#answered,
      seconds: (Math.min(this.#lastAnswerAt, this.#endsAt) - this.#measuresFrom) / 1000,
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
      slowest: this.#slowest,
      refused: this.#refused,
      tokens: this.#checker.tokens().slice(0, TOKENS_TO_TRY),
      generatorCpuS: (cpu.user + cpu.system) / 1e6,
    }
  }
}

import { performance } from 'node:perf_hooks'
import { percentile } from '../statistics.ts'
import { type Answer, answerChecker } from './answer.ts'
import type { Turn, TurnResult } from './ask.ts'
import { type Connection, openConnection } from './connection.ts'
import type { Prepared } from './list.ts'

interface InFlight {
  readonly asked: Prepared
  /** Milliseconds on the monotonic clock. */
  readonly since: number
}

/** A timer may fire this much late by its grain; what is later than that counts as waiting time. */
const TIMER_GRAIN_MS = 2

/** Runs one turn. Rejects on the first wrong answer, broken connection or silence. */
export async function runTurn(turn: Turn, list: readonly Prepared[], onMeasuring: () => void): Promise<TurnResult> {
  const checker = answerChecker()
  const inFlight = new Map<Connection, InFlight>()
  const idle: Connection[] = []
  const overdue: number[] = [] // open loop: when requests were due that found no idle connection
  const latencies: number[] = []
  let [asked, answered] = [0, 0]
  let [measuresFrom, endsAt, lastAnswerAt] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0]
  let cpuBefore = process.cpuUsage()

  const next = (): Prepared | undefined =>
    turn.order === 'once' ? list[asked] : list[Math.floor(Math.random() * list.length)]

  return new Promise<TurnResult>((resolve, reject) => {
    const connections: Connection[] = []
    const finish = (error?: Error) => {
      clearInterval(ticking)
      clearInterval(watchdog)
      for (const connection of connections) connection.close()
      if (error) return reject(error)
      const seconds = (Math.min(lastAnswerAt, endsAt) - measuresFrom) / 1000
      if (latencies.length === 0) return reject(new Error('the list was used up before the warm-up was over'))
      latencies.sort((one, other) => one - other)
      const cpu = process.cpuUsage(cpuBefore)
      resolve({
        answers: latencies.length,
        answersWithWarmUp: answered,
        seconds,
        p50: percentile(latencies, 0.5),
        p99: percentile(latencies, 0.99),
        tokens: checker.tokens().slice(0, 20),
        generatorCpuS: (cpu.user + cpu.system) / 1e6,
      })
    }

    const send = (connection: Connection, since: number): void => {
      const asking = since < endsAt ? next() : undefined
      if (!asking) {
        idle.push(connection)
        if (inFlight.size === 0 && (since >= endsAt || turn.order === 'once')) finish()
        return
      }
      asked++
      inFlight.set(connection, { asked: asking, since })
      connection.send(asking.request)
    }

    const onAnswer = (connection: Connection, answer: Answer): void => {
      const now = performance.now()
      const found = inFlight.get(connection)
      if (!found) throw new Error('an answer that nobody asked for')
      inFlight.delete(connection)
      checker.check(answer, found.asked.expect)
      answered++
      lastAnswerAt = now
      if (now >= measuresFrom && now < endsAt) latencies.push(now - found.since)
      const due = turn.perSecond === undefined || now >= endsAt ? now : overdue.shift()
      if (due === undefined) idle.push(connection)
      else send(connection, due)
    }

    /** Open loop: arrivals at random moments (Poisson), whether or not earlier answers have come. */
    let nextDue = 0
    const tick = (perSecond: number): void => {
      const now = performance.now()
      if (now >= endsAt && inFlight.size === 0) finish()
      for (; nextDue <= now && nextDue < endsAt; nextDue += (-Math.log(1 - Math.random()) * 1000) / perSecond) {
        const due = now - nextDue <= TIMER_GRAIN_MS ? now : nextDue
        const connection = idle.pop()
        if (connection) send(connection, due)
        else overdue.push(due)
      }
    }
    let ticking: NodeJS.Timeout | undefined
    let answeredBefore = -1
    const watchdog = setInterval(() => {
      if (answered === answeredBefore) finish(new Error('no answer for ten seconds'))
      answeredBefore = answered
    }, 10_000)

    const begin = async (): Promise<void> => {
      while (connections.length < turn.connections) {
        connections.push(await openConnection(turn.port, onAnswer, finish))
      }
      const now = performance.now()
      measuresFrom = now + turn.warmUpS * 1000
      endsAt = measuresFrom + turn.seconds * 1000
      nextDue = now
      setTimeout(() => {
        cpuBefore = process.cpuUsage()
        onMeasuring()
      }, turn.warmUpS * 1000)
      if (turn.perSecond === undefined) for (const connection of connections) send(connection, now)
      else {
        idle.push(...connections)
        const perSecond = turn.perSecond
        ticking = setInterval(() => tick(perSecond), 1)
      }
    }
    begin().catch(finish)
  })
}

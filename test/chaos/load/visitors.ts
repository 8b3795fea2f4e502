import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Keep-alive connections with one request at a time, like those of a load balancer or a server-side client: they honour
 * `Connection: close`, and distinguish a lost request from a connection that was closed between two requests.
 */
export interface Visitors {
  readonly counts: VisitorCounts
  /** Resolves when every connection has ended. */
  readonly ended: Promise<void>
  /** Sends no further requests. */
  stop(): void
}

interface VisitorCounts {
  answered: number
  /** Visitors that have received a response. */
  atWork: number
  /** Requests without a complete response because the connection was reset or closed. */
  reset: number
  /** Responses other than 200. */
  failed: number
  /** The distinct reasons of failures, for the log of a run. */
  readonly reasons: Set<string>
  /** Connections that were refused. */
  refused: number
}

export interface VisitPlan {
  readonly port: number
  readonly connections: number
  readonly request: () => string
  /** Maximum of the random pause between a response and the next request, in milliseconds. */
  readonly pauseMs: number
  /** Whether a new connection may be opened now; a balancer opens none if the service is not ready. */
  readonly mayConnect: () => boolean
  /** After a refused connection: end this visitor, or try again. */
  readonly onRefused: 'end' | 'again'
}

/** Long enough for a balancer to give up and respond with an error. */
const SILENCE_MS = 15_000

export function startVisitors(plan: VisitPlan): Visitors {
  const counts: VisitorCounts = { answered: 0, atWork: 0, reset: 0, failed: 0, reasons: new Set(), refused: 0 }
  let over = false
  const visit = async (): Promise<void> => {
    let isAtWork = false
    const onAnswer = () => {
      counts.answered++
      if (!isAtWork) counts.atWork++
      isAtWork = true
    }
    while (!over) {
      if (!plan.mayConnect()) {
        await sleep(20)
        continue
      }
      const socket = connect({ port: plan.port, host: '127.0.0.1', noDelay: true })
      const opened = await once(socket, 'connect').then(
        () => true,
        () => false,
      )
      if (opened) await talk(socket, plan, { counts, onAnswer, isOver: () => over })
      else {
        counts.refused++
        if (plan.onRefused === 'end') return
        await sleep(20)
      }
      socket.destroy()
    }
  }
  return {
    counts,
    ended: Promise.all(Array.from({ length: plan.connections }, visit)).then(() => {}),
    stop: () => {
      over = true
    },
  }
}

interface Visit {
  readonly counts: VisitorCounts
  readonly onAnswer: () => void
  readonly isOver: () => boolean
}

/** Sends requests one after the other on one connection until either side closes it. */
async function talk(socket: Socket, plan: VisitPlan, { counts, onAnswer, isOver }: Visit): Promise<void> {
  let closed = false
  socket.on('error', (error: NodeJS.ErrnoException) => counts.reasons.add(error.code ?? error.message))
  for (const event of ['close', 'end']) socket.once(event, () => (closed = true))
  while (!isOver()) {
    if (plan.pauseMs > 0) await sleep(Math.random() * plan.pauseMs)
    if (closed) return // between two requests: nothing is lost
    socket.write(plan.request())
    const answer = await readWhole(socket)
    if (answer === undefined) {
      counts.reset++
      return
    }
    const status = answer.slice(9, 12)
    if (status === '200') onAnswer()
    else {
      counts.failed++
      counts.reasons.add(answer.slice(0, answer.indexOf('\r\n')))
    }
    if (/\r\nconnection: *close/i.test(answer)) return
  }
}

/** The next complete response, or undefined if the connection ends before that. */
function readWhole(socket: Socket): Promise<string | undefined> {
  let text = ''
  return new Promise((resolve) => {
    const end = (answer: string | undefined) => {
      clearTimeout(timer)
      for (const event of ['end', 'close'] as const) socket.off(event, gone)
      socket.off('data', read)
      resolve(answer)
    }
    const gone = () => end(undefined)
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head + 2))?.[1]
      if (head >= 0 && text.length >= head + 4 + Number(length ?? 0)) end(text)
    }
    const timer = setTimeout(gone, SILENCE_MS)
    for (const event of ['end', 'close'] as const) socket.once(event, gone)
    socket.on('data', read)
  })
}

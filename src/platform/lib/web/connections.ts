import type { Server, Socket } from 'node:net'

/** What limits and shutdown need to know of a connection. */
export interface Connection {
  open: boolean
  /** Requests without an answer yet. */
  unanswered: number
  /** Those of them that count as in progress. */
  inProgress: number
  /** Whether it will be closed after the outstanding answers: further requests are ignored. */
  ending: boolean
  ignored: number
  used: boolean
  /** A sequence number from when it was opened or got its last answer. */
  since: number
  /** How many bytes of its answers its client had taken at the last progress, and when that was. */
  taken: number
  takenAt: number
}

/** The fraction of the allowed connections that is closed at once to make room. */
const ROOM = 1 / 64

/**
 * Within this time a client has to take LEAST_BYTES of what is ready for it, or the part that is being written, beyond
 * the megabytes that the kernel buffers.
 */
const TAKE_WITHIN_MS = 30_000
const LEAST_BYTES = 32 * 1024
const CHECKS = 6

/**
 * The open connections of one server. Shortly before the limit, those that have been idle longest are closed, beginning
 * with those that have never sent a request: otherwise anybody could keep all others out by opening silent connections.
 *
 * Connections whose client does not read its answers, or hardly, are closed too. Node waits for it for ever, and meanwhile
 * the request counts as in progress: some hundred such clients would have everybody else refused.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  #last = 0

  constructor(
    server: Server,
    most: number,
    onClose: (connection: Connection) => void,
    onUnread: (socket: Socket) => void,
    takeWithinMs = TAKE_WITHIN_MS,
  ) {
    server.maxConnections = most
    const room = Math.max(1, Math.floor(most * ROOM))
    server.on('connection', (socket: Socket) => {
      const counts = { unanswered: 0, inProgress: 0, ignored: 0, since: ++this.#last }
      const fresh = { ...counts, open: true, ending: false, used: false, taken: 0, takenAt: performance.now() }
      if (this.#open.size >= most - room) this.#makeRoom(room)
      this.#open.set(socket, fresh)
      socket.once('close', () => {
        this.#open.delete(socket)
        fresh.open = false
        onClose(fresh)
      })
    })
    server.once('listening', () => {
      const checking = setInterval(() => this.#closeUnread(onUnread, takeWithinMs), takeWithinMs / CHECKS).unref()
      server.once('close', () => clearInterval(checking))
    })
  }

  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket)
  }

  answered(connection: Connection): void {
    connection.unanswered--
    connection.since = ++this.#last
  }

  #makeRoom(wanted: number): void {
    const idle = [...this.#open].filter(([, { unanswered }]) => unanswered === 0)
    idle.sort(([, one], [, other]) => Number(one.used) - Number(other.used) || one.since - other.since)
    for (const [socket] of idle.slice(0, wanted)) socket.destroy()
  }

  #closeUnread(onUnread: (socket: Socket) => void, withinMs: number): void {
    const now = performance.now()
    for (const [socket, connection] of this.#open) {
      const waiting = socket.writableLength
      const taken = socket.bytesWritten - waiting
      if (waiting === 0 || taken - connection.taken >= LEAST_BYTES) {
        Object.assign(connection, { taken, takenAt: now })
      } else if (now - connection.takenAt >= withinMs) {
        onUnread(socket)
        socket.destroy()
      }
    }
  }
}

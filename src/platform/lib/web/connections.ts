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
  /** Requests that were ignored. */
  ignored: number
  /** Whether it has ever sent a request. */
  used: boolean
  /** A sequence number from when it was opened or got its last answer. */
  since: number
}

/** The fraction of the allowed connections that is closed at once to make room. */
const ROOM = 1 / 64

/**
 * The open connections of one server. Shortly before the limit, those that have been idle longest are closed, beginning
 * with those that have never sent a request: otherwise anybody could keep all others out by opening silent connections.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>()
  #last = 0

  constructor(server: Server, most: number, onClose: (connection: Connection) => void) {
    server.maxConnections = most
    const room = Math.max(1, Math.floor(most * ROOM))
    server.on('connection', (socket: Socket) => {
      const counts = { unanswered: 0, inProgress: 0, ignored: 0, since: ++this.#last }
      const fresh = { ...counts, open: true, ending: false, used: false }
      if (this.#open.size >= most - room) this.#makeRoom(room)
      this.#open.set(socket, fresh)
      socket.once('close', () => {
        this.#open.delete(socket)
        fresh.open = false
        onClose(fresh)
      })
    })
  }

  /** Undefined once it is closed. */
  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket)
  }

  /** Records that a request of this connection has been answered. */
  answered(connection: Connection): void {
    connection.unanswered--
    connection.since = ++this.#last
  }

  #makeRoom(wanted: number): void {
    const idle = [...this.#open].filter(([, { unanswered }]) => unanswered === 0)
    idle.sort(([, one], [, other]) => Number(one.used) - Number(other.used) || one.since - other.since)
    for (const [socket] of idle.slice(0, wanted)) socket.destroy()
  }
}

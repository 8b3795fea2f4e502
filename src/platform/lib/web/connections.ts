import type { Server, Socket } from 'node:net'

/** An open connection, as far as limits and the shutdown look at it. */
export interface Connection {
  open: boolean
  /** Requests that wait for their answer. */
  unanswered: number
  /** Requests among them that count as in progress. */
  inProgress: number
  /** Whether it will be closed after the answers that are due: requests that follow are not looked at. */
  ending: boolean
  /** Requests that were not looked at. */
  ignored: number
  /** Whether it has sent a request at all. */
  used: boolean
  /** Its place in the order in which connections were opened or had their last answer. */
  since: number
}

/** How many connections are closed at once to make room, as a part of those that may be open. */
const ROOM = 1 / 64

/**
 * The open connections of one server. Shortly before there are too many, those that have waited longest for a request are
 * closed, first those that have never sent one: otherwise whoever opens enough connections and says nothing would keep
 * everybody else out.
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

  /** One of its requests has its answer. */
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

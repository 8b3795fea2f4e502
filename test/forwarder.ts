import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net'

/** A TCP proxy: a fixed loopback address for a server that may come back on another port. */
export class Forwarder {
  port = 0
  /** The port of the server. Null: connections are closed at once. */
  target: number | null = null
  /** Delay of the server's data in milliseconds. Delayed data is lost if the connection closes. */
  lateMs = 0
  readonly #sockets = new Set<Socket>()
  readonly #server: Server

  constructor() {
    this.#server = createServer((incoming) => {
      incoming.on('error', () => incoming.destroy())
      if (this.target === null) {
        incoming.destroy()
        return
      }
      const outgoing = dial(this.target, '127.0.0.1')
      for (const [from, to] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        this.#sockets.add(from)
        from.on('error', () => to.destroy()).on('close', () => to.destroy() && this.#sockets.delete(from))
      }
      incoming.pipe(outgoing)
      outgoing.on('data', (data) => {
        if (this.lateMs === 0) incoming.write(data)
        else setTimeout(() => incoming.writable && incoming.write(data), this.lateMs)
      })
    })
  }

  async open(port = 0): Promise<void> {
    await once(this.#server.listen(port, '127.0.0.1'), 'listening')
    this.port = (this.#server.address() as AddressInfo).port
  }

  /** The URL with its port replaced by that of this proxy. */
  through(url: string): string {
    const here = new URL(url)
    here.port = String(this.port)
    return here.href
  }

  /** Pauses the existing connections; new ones are forwarded at once. */
  hold(): void {
    for (const socket of this.#sockets) socket.pause()
  }

  release(): void {
    for (const socket of this.#sockets) socket.resume()
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }
}

import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const IDLE_EVERY_MS = 50

/**
 * Bounds the closing of an app: requests in progress get `graceSeconds`, connections without a request are closed at
 * once. Browsers open some of those ahead, and Node does not count them among the idle ones that it closes by itself.
 * Those that become idle later, when their last answer has gone out, are closed then.
 */
export function closeInTime(app: FastifyInstance, graceSeconds: number): void {
  const unused = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  app.server.on('request', ({ socket }) => unused.delete(socket))
  app.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy()
    const sweeping = setInterval(() => app.server.closeIdleConnections(), IDLE_EVERY_MS).unref()
    app.server.once('close', () => clearInterval(sweeping))
    setTimeout(() => app.server.closeAllConnections(), graceSeconds * 1000).unref()
  })
}

import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Bounds the closing of an app: requests in flight get `graceSeconds`, connections on which none has begun get nothing.
 * Browsers open some of those ahead, and Node does not count them among the idle ones that it closes by itself.
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
    setTimeout(() => app.server.closeAllConnections(), graceSeconds * 1000).unref()
  })
}

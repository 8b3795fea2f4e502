import type { Server, Socket } from 'node:net'

/**
 * Within this time a client has to take LEAST_BYTES of what is ready for it, or the part that is being written, beyond
 * the megabytes that the kernel buffers.
 */
const TAKE_WITHIN_MS = 30_000
const LEAST_BYTES = 32 * 1024
const CHECKS = 6

interface Mark {
  readonly taken: number
  readonly at: number
}

/**
 * Closes connections whose client does not read its answers, or hardly. Node waits for it for ever, and meanwhile the
 * request counts as in progress: some hundred such clients would have everybody else refused.
 */
export function closeUnread(server: Server, onClose: (socket: Socket) => void, withinMs = TAKE_WITHIN_MS): void {
  const marks = new Map<Socket, Mark>()
  const check = (socket: Socket, now: number): void => {
    const waiting = socket.writableLength
    const mark = waiting > 0 ? marks.get(socket) : undefined
    const taken = socket.bytesWritten - waiting
    if (mark === undefined || taken - mark.taken >= LEAST_BYTES) {
      marks.set(socket, { taken, at: now })
    } else if (now - mark.at >= withinMs) {
      onClose(socket)
      socket.destroy()
    }
  }
  server.on('connection', (socket: Socket) => {
    marks.set(socket, { taken: 0, at: performance.now() })
    socket.once('close', () => marks.delete(socket))
  })
  const checking = setInterval(() => {
    const now = performance.now()
    for (const socket of marks.keys()) check(socket, now)
  }, withinMs / CHECKS).unref()
  server.once('close', () => clearInterval(checking))
}

import { Stream } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/**
 * Sends the replies of one event-loop tick together: a packet that wakes a sleeping client or proxy costs several times as
 * much as one to a client that is awake. Only for rooms whose hooks refuse by throwing: `reply.sent` stays false until the
 * end of the tick, so the handler would still run after a hook that has replied.
 */
export function flushRepliesPerTick(app: FastifyInstance): void {
  let endOfTick: Promise<void> | undefined
  const begin = (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(() => {
        endOfTick = undefined
        resolve()
      })
    })
  app.addHook('onSend', (_request, _reply, payload) => {
    // A stream may fail at any moment, and Fastify handles its errors only once it is being sent.
    if (payload instanceof Stream) return Promise.resolve()
    endOfTick ??= begin()
    return endOfTick
  })
}

import { Stream } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/**
 * Sends the replies of one event-loop tick together, after all requests of the tick have been read. A packet that wakes a
 * sleeping client or proxy costs several times one to a client that is awake; sent one by one, nearly every reply would.
 *
 * Only for rooms whose hooks refuse by throwing: until the end of the tick `reply.sent` is false, so after a hook that has
 * replied by itself the handler would still run.
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
    // A stream may fail at any moment, and Fastify listens to it only when it is sent.
    if (payload instanceof Stream) return Promise.resolve()
    endOfTick ??= begin()
    return endOfTick
  })
}

import { Stream } from 'node:stream'
import type { FastifyInstance } from 'fastify'

/**
 * Answers that are ready in one tick of the event loop leave one right after the other, when all of the tick's requests
 * have been read. A packet that wakes a sleeping peer costs several times one to a peer that is awake, and a proxy that
 * gets its answers one by one falls asleep between any two.
 *
 * For rooms whose hooks refuse by throwing: until the end of the tick `reply.sent` is false, and a hook that had answered by
 * itself could be followed by the handler.
 */
export function sendAnswersTogether(app: FastifyInstance): void {
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

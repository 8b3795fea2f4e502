import { createHash, type Hash } from 'node:crypto'
import { pipeline, Transform } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { RescodeError } from './rescode.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The SHA-256, in hex, of the body that the caller has signed; null if it is not signed. */
    signedBody: string | null
    bodyHash: Hash | null
  }
}

/** Refuses a request whose body is not the signed one, before any handler sees it. */
export function checkSignedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async (request, _reply, payload) => {
    if (request.signedBody === null) return payload
    const hash = createHash('sha256')
    request.bodyHash = hash
    const hashed = new Transform({
      transform(chunk, _encoding, done) {
        hash.update(chunk)
        done(null, chunk)
      },
    })
    return pipeline(payload, hashed, () => {}) // errors reach the reader of `hashed`
  })
  app.addHook('preValidation', async ({ signedBody, bodyHash }) => {
    if (signedBody === null || bodyHash?.digest('hex') === signedBody) return
    throw new RescodeError(20015, { detail: 'the body is not the one that the command signed' })
  })
}

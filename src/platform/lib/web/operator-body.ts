import { createHash, type Hash } from 'node:crypto'
import { pipeline, Transform } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { InvalidInput } from '../json/input.ts'
import { parseLossless } from '../json/lossless.ts'
import { type LocalizedText, localized } from '../localized-text.ts'
import { bodyText } from './body-text.ts'
import { echo, invalidRequest, type Problem, RescodeError } from './rescode.ts'

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

const TYPE = 'application/json'

/** Reads JSON bodies with exact 64-bit ids. An empty one counts as none: some clients send a Content-Type with every POST. */
export function readBodiesExactly(app: FastifyInstance): void {
  app.removeContentTypeParser(TYPE)
  app.addContentTypeParser(TYPE, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (bodyText(request, body) === '') return undefined
    const parsed = parseLossless(body)
    if (!('problem' in parsed)) return parsed.value
    const fields = fieldsWith(parsed.problem, body)
    if (fields.length > 0) throw new InvalidInput(fields)
    throw invalidRequest(localized('body-is', { problem: parsed.problem }))
  })
}

/** The fields with texts that cannot be stored, because of which valid JSON was refused; none for other problems. */
function fieldsWith(problem: LocalizedText, body: Buffer): Problem[] {
  try {
    const fields = Object.entries(JSON.parse(String(body)) as object)
    const refused = fields.filter(([, value]) => 'problem' in parseLossless(Buffer.from(JSON.stringify({ value }))))
    return refused.map(([field]) => ({ field: echo(field), problem: localized('is-refused', { problem }) }))
  } catch {
    return []
  }
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseLossless } from '../json/lossless.ts'
import { invalidRequest } from './rescode.ts'

/**
 * Makes this plugin's routes read JSON bodies with their 64-bit ids exact. An empty one counts as none, whatever its
 * type.
 */
export function readBodiesExactly(app: FastifyInstance): void {
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      const parsed = parseLossless(body)
      if ('problem' in parsed) throw invalidRequest(`the body is ${parsed.problem}`)
      return parsed.value
    },
  )
}

/**
 * As Fastify reads JSON, but an empty body is none: some clients send `Content-Type` with every POST, also without a
 * body.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null)
    else parse(request, String(body), done)
  })
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseLossless } from './lossless.ts'
import { invalidRequest } from './rescode.ts'

/** Makes this plugin's routes read JSON bodies with their 64-bit ids exact. */
export function readBodiesExactly(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: FastifyRequest, body: Buffer) => {
      const parsed = parseLossless(body)
      if ('problem' in parsed) throw invalidRequest(`the body is ${parsed.problem}`)
      return parsed.value
    },
  )
}

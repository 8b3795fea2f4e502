import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { HeldBody, releaseWhenAnswered } from './body-memory.ts'
import { unavailable } from './rescode.ts'
import { hasBody } from './unread-body.ts'

/** Of the memory for bodies, what all share who fill in forms: most of them nobody knows yet. */
const HOLDER = 'forms'

/** Makes this plugin read forms up to `bodyLimit`, and nothing else. What a form says that it holds is set aside for it. */
export async function acceptForms(app: FastifyInstance, bodyLimit: number): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(formbody, { bodyLimit })
  releaseWhenAnswered(app)
  app.addHook('preParsing', async (request) => {
    if (!hasBody(request)) return
    const announced = Number(request.headers['content-length'] ?? bodyLimit)
    request.heldBody = new HeldBody(app.bodyMemory, HOLDER)
    if (!request.heldBody.add(Math.min(announced, bodyLimit))) throw unavailable()
  })
}

import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { HeldBody, releaseWhenAnswered } from './body-memory.ts'
import { unavailable } from './rescode.ts'
import { hasBody } from './unread-body.ts'

/** The share of the memory for bodies that all forms have together: most of their senders are not signed in yet. */
const HOLDER = 'forms'

/**
 * Makes this plugin read forms up to `bodyLimit`, and nothing else. Memory for the announced length of a form is
 * reserved.
 */
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

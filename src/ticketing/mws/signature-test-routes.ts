import type { FastifyInstance, onRequestAsyncHookHandler } from 'fastify'
import { ENCRYPTION_STATUS } from '../../platform/lib/crypto/aes-body.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { ANSWER_HEADERS, PATH } from '../mws-wire/index.ts'
import { jsonBytes } from './body-guard.ts'
import { callOf } from './guard.ts'
import type { IncomingDeps } from './incoming-calls.ts'
import { testSignature } from './signature-test.ts'

/** Signature tests have a small body, if any, and anybody may call this route. */
const BODY_LIMIT = 64 * 1024

/** The signature tool for programs, `POST …/order/test/ba`; to be registered in a plugin of `signedRoutes`. */
export function signatureTestRoutes(
  app: FastifyInstance,
  deps: IncomingDeps,
  onRequest: onRequestAsyncHookHandler,
): void {
  app.post(PATH.signatureTest, { onRequest, bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const content = {
      type: request.headers['content-type'],
      coding: request.headers['content-encoding'],
      encryption: request.headers[ENCRYPTION_STATUS],
      bytes: () => jsonBytes({ body: request.body, headers: { 'content-type': 'application/json' } }),
    }
    const call = { ...callOf(request), host: request.headers.host, address: request.ip }
    const answer = await testSignature(deps, call, content)
    noteForLog(request, { code: answer.code })
    reply.headers(ANSWER_HEADERS)
    return reply.send(JSON.stringify(answer))
  })
}

import type { FastifyInstance, FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify'
import type { Deps } from '../deps.ts'
import { sendAnswersTogether } from '../lib/answers-together.ts'
import { asRescodeError } from '../lib/envelope.ts'
import { noteForLog } from '../lib/observe.ts'
import { refused } from './answer.ts'
import { acceptRawBodies, jsonBytes, readableBody } from './body-guard.ts'
import { PATH } from './endpoints.ts'
import { CallRejected, methodNotAllowed, noSuchPath } from './errors.ts'
import { callerOf, callOf, mwsSignature } from './guard.ts'
import { acceptNotice, CONSUMPTION, DEAL_CHANGE, REFUND_RESULT } from './notice.ts'
import { keepRejected } from './reject.ts'
import { decodedPath, pathAsSent } from './signature.ts'
import { testSignature } from './signature-test.ts'

const HEADERS = { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' } as const

interface Options {
  readonly deps: Deps
  /** The limit of the signature tool, shared by all prefixes. */
  readonly limitTests: preHandlerAsyncHookHandler
}

/** B1 under one path prefix: the three notices behind the signature guard, and the signature tool. */
export async function partnerRoutes(app: FastifyInstance, { deps, limitTests }: Options): Promise<void> {
  acceptRawBodies(app)
  sendAnswersTogether(app)
  app.setErrorHandler((error, request, reply) => sendRefusal(deps, error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const path = decodedPath(pathAsSent(request.raw.url ?? ''))
    const known = Object.values(PATH).some((tail) => path === app.prefix + tail)
    const error = known ? methodNotAllowed() : noSuchPath()
    return sendRefusal(deps, error, request, reply)
  })

  const guarded = { preHandler: mwsSignature(deps) }
  /** The body of a success, which the handler returns (as in lib/envelope.ts). */
  const success = (request: FastifyRequest, reply: FastifyReply, answer: string): string => {
    noteForLog(request, { code: 200 })
    reply.headers(HEADERS)
    return answer
  }
  const received = (request: FastifyRequest) => ({
    caller: callerOf(request),
    url: request.raw.url ?? '',
    bytes: jsonBytes(request),
  })
  app.post(PATH.dealChange, guarded, async (request, reply) =>
    success(request, reply, await acceptNotice(deps, DEAL_CHANGE, received(request))),
  )
  app.post(PATH.consume, guarded, async (request, reply) =>
    success(request, reply, await acceptNotice(deps, CONSUMPTION, received(request))),
  )
  app.post(PATH.refund, guarded, async (request, reply) =>
    success(request, reply, await acceptNotice(deps, REFUND_RESULT, received(request))),
  )

  app.post(PATH.signatureTest, { preHandler: limitTests }, async (request, reply) => {
    const answer = await testSignature(deps, callOf(request), request.headers.host)
    noteForLog(request, { code: answer.code })
    return reply.headers(HEADERS).send(JSON.stringify(answer))
  })
}

async function sendRefusal(deps: Deps, thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const claimed = String(request.caller?.partner_id ?? claimedPartnerId(request))
  if (!(thrown instanceof CallRejected)) {
    const { failure, ...error } = asRescodeError(thrown, request)
    const unreadable = error.rescode === 20007
    noteForLog(request, { code: 300, ...(failure.detail ? { detail: failure.detail } : {}) })
    const describe = unreadable ? 'the request cannot be read' : 'the platform cannot answer now; try again later'
    return reply
      .code(unreadable ? 200 : (failure.status ?? 500))
      .headers({ ...HEADERS, ...failure.headers })
      .send(JSON.stringify(refused(describe, claimed)))
  }
  noteForLog(request, { code: 300, detail: thrown.detail })
  const answer = JSON.stringify(refused(thrown.describe, claimed))
  if (thrown.status === 200) {
    const { headers, body, caller } = request
    const seen = { call: callOf(request), signed: caller !== null, headers, body: readableBody(body) }
    const rejection = { ...seen, reason: thrown.message, answer }
    await keepRejected(deps, rejection).catch((error: Error) => {
      request.log.error({ err: error }, 'a rejected call could not be kept')
    })
  }
  return reply
    .code(thrown.status)
    .headers({ ...HEADERS, ...thrown.headers })
    .send(answer)
}

/** What the caller said of itself: repeating it tells an unsigned caller nothing. */
function claimedPartnerId({ headers }: FastifyRequest): string {
  const given = String(headers.partnerid ?? '')
  return /^\d{1,19}$/.test(given) ? given : ''
}

import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { ENCRYPTION_STATUS } from '../../platform/lib/crypto/aes-body.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { placeholderFor } from '../../platform/lib/web/body-placeholder.ts'
import { failureAnswerOf, logFailure } from '../../platform/lib/web/envelope.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { hasBody } from '../../platform/lib/web/read-body.ts'
import type { FailureAnswer } from '../../platform/lib/web/rescode.ts'
import { ANSWER_HEADERS, CallRejected, NotAuthenticated, PATH, rejectionEnvelope } from '../mws-wire/index.ts'
import { claimedPartnerId } from './authenticate.ts'
import { acceptRawBodies, jsonBytes, readableBody } from './body-guard.ts'
import { callOf } from './guard.ts'
import type { IncomingDeps } from './incoming-calls.ts'
import { keepRejected, keepWrongPath } from './reject.ts'
import { testSignature } from './signature-test.ts'

/** How the rejections of one group of routes differ. */
export interface RejectionPolicy {
  /** The code of the answer; `rejected` is undefined for an unreadable request and for our own faults. */
  code(rejected: CallRejected | undefined, url: string): 300 | 400 | 404
  /** Whether a rejected call is kept for its partner to look at. */
  isKept(rejected: CallRejected): boolean
  /** Describe and HTTP status for an unreadable request. */
  unreadable(error: FailureAnswer): { readonly describe: string; readonly status: number }
}

/**
 * Prepares this plugin for routes of signed calls: bodies are read as bytes, and rejections get the envelope of area B.
 * The routes themselves say whether and when the signature is checked (`mwsSignature`, `noticeSignature`).
 */
export function signedRoutes(app: FastifyInstance, deps: IncomingDeps, policy: RejectionPolicy): void {
  app.decorateRequest('caller', null)
  app.decorateRequest('laterRejection', null)
  acceptRawBodies(app, deps.config)
  app.setErrorHandler(answerRejection(deps, policy))
}

/** An error handler that answers with the envelope of area B. */
export const answerRejection =
  (deps: IncomingDeps, policy: RejectionPolicy) =>
  async (thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const rejected = thrown instanceof CallRejected ? thrown : undefined
    const signer = rejected instanceof NotAuthenticated ? rejected.signer : undefined
    const partnerId = String(
      request.caller?.partner_id ?? signer ?? claimedPartnerId(String(request.headers.partnerid ?? '')),
    )
    const code = policy.code(rejected, request.raw.url ?? '')
    const { describe, status, headers, detail } = rejected ?? failureOf(policy, thrown, request)
    noteForLog(request, { code, ...(detail ? { detail } : {}) })
    const answer = JSON.stringify(rejectionEnvelope(describe, partnerId, code))
    if (rejected && policy.isKept(rejected)) await keep(deps, request, rejected, answer)
    return reply
      .code(status)
      .headers({ ...ANSWER_HEADERS, ...headers })
      .send(answer)
  }

function failureOf(policy: RejectionPolicy, thrown: unknown, request: FastifyRequest) {
  const error = failureAnswerOf(thrown, request)
  const { status = 500, headers = {}, detail } = error.failure
  if (error.rescode === 20007) return { ...policy.unreadable(error), headers, detail }
  return { describe: 'the platform cannot respond now; try again later', status, headers, detail }
}

/** Keeps a rejected call. Unverified callers do not wait: the time would reveal whether the clientId exists. */
async function keep(deps: IncomingDeps, request: FastifyRequest, rejected: CallRejected, answer: string) {
  const { caller, headers, ip: address } = request
  const { status, reason } = rejected
  const rejection = { requestId: request.id, call: callOf(request), address, headers, answer }
  const logLost = (error: Error) => logFailure(request, error, 'a rejected call could not be recorded')
  // The body of a call to a wrong path is not kept, and nobody waits for the rest.
  if (status === 404 || status === 405) {
    const why = status === 405 ? localized('wrong-method', { method: request.method }) : reason
    const body = hasBody(request) ? placeholderFor(status === 405 ? 'not-kept-method' : 'not-kept-path') : ''
    keepWrongPath(deps, { ...rejection, body, reason: why }).catch(logLost)
    return
  }
  const verified = caller !== null || (rejected instanceof NotAuthenticated && rejected.verified)
  // What a wrong key makes of a body is of no use.
  if (reason.id === 'key-does-not-fit') request.decryptedBody = undefined
  const decrypted = request.decryptedBody !== undefined
  const body = readableBody(request)
  const kept = keepRejected(deps, { ...rejection, reason, verified, body, decrypted }).catch(logLost)
  if (verified) await kept
}

/** Signature tests have a small body, if any, and anybody may call this route. */
const TEST_BODY_LIMIT = 64 * 1024

/** The signature tool for programs, `POST …/order/test/ba`; to be registered in a plugin of `signedRoutes`. */
export function signatureTestRoutes(
  app: FastifyInstance,
  deps: IncomingDeps,
  onRequest: onRequestAsyncHookHandler,
): void {
  app.post(PATH.signatureTest, { onRequest, bodyLimit: TEST_BODY_LIMIT }, async (request, reply) => {
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

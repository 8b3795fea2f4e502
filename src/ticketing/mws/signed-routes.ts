import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { localized } from '../../platform/lib/localized-text.ts'
import { placeholderFor } from '../../platform/lib/web/body-placeholder.ts'
import { failureAnswerOf, logFailure } from '../../platform/lib/web/envelope.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { hasBody } from '../../platform/lib/web/read-body.ts'
import type { FailureAnswer } from '../../platform/lib/web/rescode.ts'
import { ANSWER_HEADERS, CallRejected, NotAuthenticated, rejectionEnvelope } from '../mws-wire/index.ts'
import { claimedPartnerId } from './authenticate.ts'
import { acceptRawBodies, readableBody } from './body-guard.ts'
import { callOf } from './guard.ts'
import type { IncomingDeps } from './incoming-calls.ts'
import { keepRejected, keepWrongPath } from './reject.ts'

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
  rejectInEnvelope(app, deps, policy)
}

/** Only the rejections, for a scope without routes. */
export function rejectInEnvelope(app: FastifyInstance, deps: IncomingDeps, policy: RejectionPolicy): void {
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
    if (rejected && policy.isKept(rejected)) {
      if (rejected.status === 404 || rejected.status === 405) keepWithoutBody(deps, request, rejected, answer)
      else await keep(deps, request, rejected, answer)
    }
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

/** For a wrong path or method: the body is not kept, and nobody waits for the rest. */
function keepWithoutBody(deps: IncomingDeps, request: FastifyRequest, rejected: CallRejected, answer: string): void {
  const { headers, ip: address } = request
  const isMethod = rejected.status === 405
  const rejection = {
    requestId: request.id,
    call: callOf(request),
    address,
    headers,
    body: hasBody(request) ? placeholderFor(isMethod ? 'not-kept-method' : 'not-kept-path') : '',
    reason: isMethod ? localized('wrong-method', { method: request.method }) : rejected.reason,
    answer,
  }
  keepWrongPath(deps, rejection).catch((error: Error) => {
    logFailure(request, error, 'a call to a wrong path could not be recorded')
  })
}

/** Unverified callers do not wait: the time would reveal whether the clientId exists. */
async function keep(
  deps: IncomingDeps,
  request: FastifyRequest,
  rejected: CallRejected,
  answer: string,
): Promise<void> {
  const { caller, headers, ip: address } = request
  const verified = caller !== null || (rejected instanceof NotAuthenticated && rejected.verified)
  // What a wrong key makes of a body is of no use.
  if (rejected.reason.id === 'key-does-not-fit') request.decryptedBody = undefined
  const decrypted = request.decryptedBody !== undefined
  const body = readableBody(request)
  const rejection = { requestId: request.id, call: callOf(request), verified, address, headers, body, decrypted }
  const kept = keepRejected(deps, { ...rejection, reason: rejected.reason, answer }).catch((error: Error) => {
    logFailure(request, error, 'a rejected call could not be recorded')
  })
  if (verified) await kept
}

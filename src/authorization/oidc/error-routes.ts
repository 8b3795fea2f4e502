import type { FastifyReply, FastifyRequest } from 'fastify'
import { wantsPage } from '../../platform/lib/web/accept.ts'
import { sendStandardFailure, standardFailureOf } from '../../platform/lib/web/oauth-response.ts'
import { sendFailurePage } from '../../platform/lib/web/page.ts'

/** Failures of the standard dialect that are not sent to the client through the browser. */

/** A page for a browser, the JSON error of RFC 6749 for a program. */
export function sendStandardErrorPage(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const failure = standardFailureOf(thrown, request)
  if (!wantsPage(request.url, request.headers.accept)) return sendStandardFailure(reply, failure)
  const { contract, text, error, status, headers } = failure
  return sendFailurePage(request, reply.code(status).headers(headers), { ...contract, text }, error)
}

export const sendJsonError = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) =>
  sendStandardFailure(reply, standardFailureOf(thrown, request))

import type { FastifyReply, FastifyRequest } from 'fastify'
import { NamedFailure } from '../../platform/lib/failure.ts'
import { wantsPage } from '../../platform/lib/web/accept.ts'
import { inMinutes } from '../../platform/lib/web/locale.ts'
import { sendStandardFailure, standardFailureOf } from '../../platform/lib/web/oauth-response.ts'
import { failurePage, localeOfRequest, sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { worded } from '../../platform/lib/web/worded.ts'

/** Failures of the standard dialect that are not sent to the client through the browser. */

/** A page for a browser, the JSON error of RFC 6749 for a program. */
export function sendStandardErrorPage(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const failure = standardFailureOf(thrown, request)
  if (!wantsPage(request.url, request.headers.accept)) return sendStandardFailure(reply, failure)
  const wait = failure.status === 429 ? failure.headers['Retry-After'] : undefined
  const data = {
    rescode: failure.rescode,
    byApp: thrown instanceof NamedFailure && thrown.row.byApp,
    code: failure.error,
    message: worded(failure.text, textsFor(request)),
    retry: wait && inMinutes(localeOfRequest(request), Number(wait)),
    busy: failure.status === 503,
    requestId: request.id,
    failure: thrown instanceof NamedFailure ? thrown.failure : undefined,
    failurePage: failurePage(request),
    returnTo: request.method === 'GET' ? request.url : '/',
  }
  return sendPage(request, reply.code(failure.status).headers(failure.headers), 'error', data)
}

export const sendJsonError = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) =>
  sendStandardFailure(reply, standardFailureOf(thrown, request))

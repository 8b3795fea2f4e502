import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Overloaded } from '../concurrency-limit.ts'
import { DatabaseUnavailable } from '../database-errors.ts'
import { contractAnswer, NamedFailure } from '../failure.ts'
import { stringifyLossless } from '../json/lossless.ts'
import { localized } from '../localized-text.ts'
import { noteForLog } from './observe.ts'
import { type FailureAnswer, invalidRequest, RescodeError, serverError, unavailable } from './rescode.ts'

/** The envelope of area A (REFERENCE "Answers of area A"). */
export const failureEnvelope = (error: FailureAnswer) => ({
  rescode: error.rescode,
  data: { message: error.message, ...(error.failure.problems ? { problems: error.failure.problems } : {}) },
})

/** Headers of every answer of area A, pages included (REFERENCE "Answers of area A"). */
export const NO_STORE_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

export const JSON_TYPE = 'application/json; charset=utf-8'

export const seeOther = (reply: FastifyReply, path: string): FastifyReply =>
  reply.headers(NO_STORE_HEADERS).redirect(path, 303)

const JSON_HEADERS = { ...NO_STORE_HEADERS, 'Content-Type': JSON_TYPE } as const

/** The failure's name for a body whose Content-Type the endpoint does not read. */
export const ANOTHER_TYPE = 'body_of_another_type'
/** The types that rooms read; each reads one of them. */
const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded'] as const

/** Translates whatever a handler threw into the failure that is sent; logs errors of our own. */
export function failureAnswerOf(error: unknown, request: FastifyRequest): FailureAnswer {
  if (error instanceof NamedFailure) return contractAnswer(error)
  if (error instanceof RescodeError) return error
  if (error instanceof Overloaded) return unavailable(error.message)
  if (error instanceof DatabaseUnavailable) {
    logFailure(request, error, 'the database is not available')
    // Never sampled: the caller got a failure, and support may be asked whether the request took effect.
    if (error.outcomeUnknown) request.log.warn('a request got 503, and it is unknown whether it was carried out')
    return unavailable(undefined, error.outcomeUnknown)
  }
  const { statusCode: status = 500, code } = (error ?? {}) as Partial<FastifyError>
  if (status === 413) return invalidRequest(localized('body-too-long'))
  if (status >= 400 && status < 500) {
    const detail = String((error as Error).message)
    if (code !== 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return invalidRequest(localized('request-unreadable'), { detail })
    const type = BODY_TYPES.find((one) => request.server.hasContentTypeParser(one)) ?? BODY_TYPES[0]
    return invalidRequest(localized('type-wanted', { type }), { name: ANOTHER_TYPE, detail })
  }
  logFailure(request, error, 'unexpected failure')
  return serverError()
}

/** Logs an error with its stack, sampled, since an outage fails every request alike. */
export function logFailure({ server, log, routeOptions }: FastifyRequest, error: unknown, message: string): void {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  const kind = error instanceof DatabaseUnavailable ? message : `${message} ${routeOptions.url} ${name} ${code}`
  const line = { level: 'error', kind, message, fields: () => ({ err: error }) } as const
  if (server.sampledLog) server.sampledLog.write(line, log)
  else log.error({ err: error }, message) // in a separate app, such as the demo's
}

/** Adds the failure to the log line, whatever the dialect of the answer. */
export function noteFailure({ rescode, failure }: FailureAnswer, request: FastifyRequest): void {
  const { name, detail, about } = failure
  noteForLog(request, {
    code: rescode,
    ...(name ? { failure: name } : {}),
    ...(detail ? { detail } : {}),
  })
  if (about) noteForLog(request, { appKey: about.appKey, user: about })
}

/** Adds the failure to the log line and sets status and headers; the caller sends envelope or page. */
export function prepareFailure(
  error: FailureAnswer,
  request: FastifyRequest,
  reply: FastifyReply,
  native: boolean,
): void {
  noteFailure(error, request)
  reply.code(error.status(native)).headers({ ...NO_STORE_HEADERS, ...error.failure.headers })
}

export function sendFailure(error: FailureAnswer, request: FastifyRequest, reply: FastifyReply, native: boolean): void {
  prepareFailure(error, request, reply, native)
  reply.header('Content-Type', JSON_TYPE).send(JSON.stringify(failureEnvelope(error)))
}

export const envelopeErrorHandler =
  (native: boolean) =>
  (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void =>
    sendFailure(failureAnswerOf(thrown, request), request, reply, native)

const answerWith =
  (write: (envelope: object) => string) =>
  (request: FastifyRequest, reply: FastifyReply, data: object): string => {
    noteForLog(request, { code: 0 })
    reply.headers(JSON_HEADERS)
    return write({ rescode: 0, data })
  }

/**
 * The JSON envelope, for a handler to return. A handler that sends it and returns the reply would make Fastify wait for
 * the end of the stream.
 */
export const answerSuccess = answerWith(JSON.stringify)

/** Like `answerSuccess`, for data with a `bigint`: writes 64-bit ids as plain numbers. */
export const answerLossless = answerWith(stringifyLossless)

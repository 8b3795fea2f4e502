import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { stringifyLossless } from './lossless.ts'
import { noteForLog } from './observe.ts'
import { invalidRequest, type Problem, RescodeError, serverError, unavailable } from './rescode.ts'
import { DatabaseUnavailable } from './unavailable.ts'

/** The envelope of area A (source, "Response envelope of area A"). */
const success = (data: object): { rescode: 0; data: object } => ({ rescode: 0, data })

export interface FailureEnvelope {
  readonly rescode: number
  readonly data: { readonly message: string; readonly problems?: readonly Problem[] }
}

export const failureEnvelope = (error: RescodeError): FailureEnvelope => ({
  rescode: error.rescode,
  data: { message: error.message, ...(error.failure.problems ? { problems: error.failure.problems } : {}) },
})

/** Headers of every answer of area A, pages included (decisions, section 1). */
export const AREA_A_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const

export const JSON_TYPE = 'application/json; charset=utf-8'

const JSON_HEADERS = { ...AREA_A_HEADERS, 'Content-Type': JSON_TYPE } as const

/** Translates whatever a handler threw into the failure that goes out; what is our own fault is logged whole. */
export function asRescodeError(error: unknown, request: FastifyRequest): RescodeError {
  if (error instanceof RescodeError) return error
  if (error instanceof DatabaseUnavailable) {
    request.log.error({ err: error }, 'the database is not available')
    return unavailable()
  }
  const status = (error as FastifyError | undefined)?.statusCode ?? 500
  if (status >= 400 && status < 500)
    return invalidRequest('the request cannot be read', { detail: String((error as Error).message) })
  request.log.error({ err: error }, 'unexpected failure')
  return serverError()
}

/** Notes the failure for the log and sets status and headers; the caller sends envelope or page. */
export function prepareFailure(
  error: RescodeError,
  request: FastifyRequest,
  reply: FastifyReply,
  native: boolean,
): void {
  const { detail, headers } = error.failure
  noteForLog(request, { code: error.rescode, ...(detail ? { detail } : {}) })
  reply.code(error.status(native)).headers({ ...AREA_A_HEADERS, ...headers })
}

/** An error handler that answers with the JSON envelope. */
export const envelopeErrorHandler =
  (native: boolean) =>
  (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = asRescodeError(thrown, request)
    prepareFailure(error, request, reply, native)
    reply.header('Content-Type', JSON_TYPE).send(JSON.stringify(failureEnvelope(error)))
  }

const answerWith =
  (write: (envelope: object) => string) =>
  (request: FastifyRequest, reply: FastifyReply, data: object): string => {
    noteForLog(request, { code: 0 })
    reply.headers(JSON_HEADERS)
    return write(success(data))
  }

/**
 * The JSON envelope, which the handler returns: where it sends the answer itself and returns the reply, Fastify waits for
 * the end of the stream.
 */
export const answerSuccess = answerWith(JSON.stringify)

/** As `answerSuccess`, for data that holds a `bigint`: 64-bit ids as plain numbers. */
export const answerLossless = answerWith(stringifyLossless)

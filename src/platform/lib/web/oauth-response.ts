import type { FastifyReply, FastifyRequest } from 'fastify'
import { NamedFailure, oauthErrorOf } from '../failure.ts'
import { type Detail, type LocalizedText, localized } from '../localized-text.ts'
import { failureAnswerOf, JSON_TYPE, NO_STORE_HEADERS, noteFailure } from './envelope.ts'

/** Answers of the standard dialect: bare JSON, real statuses, errors of RFC 6749 §5.2. */

/** RFC 6749 §5.1 wants both. */
export const STANDARD_HEADERS = { ...NO_STORE_HEADERS, Pragma: 'no-cache', 'Content-Type': JSON_TYPE } as const

export interface StandardFailure {
  /** What the contract's dialect says of this failure, for a page. */
  readonly rescode: number
  readonly error: string
  readonly status: number
  readonly description: string
  /** The same for a page, which words it for its reader. */
  readonly text: Detail
  readonly headers: Readonly<Record<string, string>>
}

const UNREADABLE = localized('request-unreadable')
export const FORM_WANTED = localized('type-wanted', { type: 'application/x-www-form-urlencoded' })

/** Errors for what no operation has named: bodies that cannot be read, methods, an outage. Our own faults are logged. */
const ERRORS: Readonly<Record<number, readonly [error: string, description: LocalizedText]>> = {
  405: ['invalid_request', localized('method-refused')],
  429: ['temporarily_unavailable', localized('too-many-requests')],
  500: ['server_error', localized('server-failed')],
  503: ['temporarily_unavailable', localized('later')],
}

/** The body of an error that no operation has named. */
export function standardErrorOf(status: number): { readonly error: string; readonly error_description: string } {
  const [error, description] = ERRORS[status] ?? ['invalid_request', UNREADABLE]
  return { error, error_description: String(description) }
}

/** Translates whatever a handler threw into the failure that is sent, and notes it for the log. */
export function standardFailureOf(thrown: unknown, request: FastifyRequest): StandardFailure {
  const contract = failureAnswerOf(thrown, request)
  const { rescode } = contract
  const { headers = {}, what = UNREADABLE } = contract.failure
  noteFailure(contract, request)
  if (thrown instanceof NamedFailure) return { ...oauthErrorOf(thrown), rescode, headers }
  const status = contract.status(true)
  const [error, text] = ERRORS[status] ?? (['invalid_request', what] as const)
  return { rescode, error, status, description: String(text), text, headers }
}

/**
 * For a handler to return: one that sends it by itself makes Fastify wait for the end of the stream (as envelope.ts).
 */
export function answerStandard(reply: FastifyReply, status: number, body: object): string {
  reply.code(status).headers(STANDARD_HEADERS)
  return JSON.stringify(body)
}

export const sendStandardFailure = (reply: FastifyReply, failure: StandardFailure): FastifyReply =>
  reply.headers(failure.headers).send(
    answerStandard(reply, failure.status, {
      error: failure.error,
      error_description: failure.description,
    }),
  )

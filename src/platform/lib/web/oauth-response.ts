import type { FastifyReply, FastifyRequest } from 'fastify'
import { NamedFailure, oauthErrorOf } from '../failure.ts'
import { type Detail, type LocalizedText, localized } from '../localized-text.ts'
import { failureAnswerOf, JSON_TYPE, NO_STORE_HEADERS, noteFailure } from './envelope.ts'

/** Answers of the standard dialect: bare JSON, real statuses, errors of RFC 6749 §5.2. */

/** RFC 6749 §5.1 wants both. */
export const STANDARD_HEADERS = { ...NO_STORE_HEADERS, Pragma: 'no-cache', 'Content-Type': JSON_TYPE } as const

export interface StandardFailure {
  /** The contract's code of this failure, for pages. */
  readonly rescode: number
  readonly error: string
  readonly status: number
  readonly description: string
  /** The description for pages, in the reader's language. */
  readonly text: Detail
  readonly headers: Readonly<Record<string, string>>
}

const UNREADABLE = localized('request-unreadable')
export const FORM_WANTED = localized('type-wanted', { type: 'application/x-www-form-urlencoded' })

/** Errors for failures that no operation has named: unreadable bodies, methods, an outage. */
const ERRORS: Readonly<Record<number, readonly [error: string, description: LocalizedText]>> = {
  405: ['invalid_request', localized('method-refused')],
  429: ['temporarily_unavailable', localized('too-many-requests')],
  500: ['server_error', localized('server-failed')],
  503: ['temporarily_unavailable', localized('later')],
}

/** The body for such a failure. */
export function standardErrorOf(status: number): { readonly error: string; readonly error_description: string } {
  const [error, description] = ERRORS[status] ?? ['invalid_request', UNREADABLE]
  return { error, error_description: String(description) }
}

/** Translates whatever a handler threw into the failure that is sent, and adds it to the log line. */
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

/** The body, for a handler to return instead of sending it (see `answerSuccess`). */
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

import type { FastifyReply, FastifyRequest } from 'fastify'
import { NamedFailure, oauthErrorOf } from '../failure.ts'
import { type LocalizedText, localized } from '../localized-text.ts'
import { failureAnswerOf, JSON_TYPE, NO_STORE_HEADERS, noteFailure } from './envelope.ts'

/** Answers of the standard dialect: bare JSON, real statuses, errors of RFC 6749 §5.2. */

/** RFC 6749 §5.1 wants both. */
export const STANDARD_HEADERS = { ...NO_STORE_HEADERS, Pragma: 'no-cache', 'Content-Type': JSON_TYPE } as const

const UNREADABLE = localized('request-unreadable')
export const FORM_WANTED = localized('type-wanted', { type: 'application/x-www-form-urlencoded' })

/** Errors for failures that no operation has named: unreadable bodies, methods, an outage. */
const ERRORS: Readonly<Record<number, readonly [error: string, description: LocalizedText]>> = {
  405: ['invalid_request', localized('method-refused')],
  429: ['temporarily_unavailable', localized('too-many-requests')],
  500: ['server_error', localized('server-failed')],
  503: ['temporarily_unavailable', localized('later')],
}

export function standardErrorOf(status: number): { readonly error: string; readonly error_description: string } {
  const [error, description] = ERRORS[status] ?? ['invalid_request', UNREADABLE]
  return { error, error_description: String(description) }
}

/**
 * Translates whatever a handler threw into the failure that is sent, and adds it to the log line. `contract` and `text`,
 * the description in the reader's language, are for pages.
 */
export function standardFailureOf(thrown: unknown, request: FastifyRequest) {
  const contract = failureAnswerOf(thrown, request)
  const { what = UNREADABLE, headers = {} } = contract.failure
  noteFailure(contract, request)
  if (thrown instanceof NamedFailure) return { ...oauthErrorOf(thrown), contract, headers }
  const status = contract.status(true)
  const [error, text] = ERRORS[status] ?? (['invalid_request', what] as const)
  return { error, status, description: String(text), text, contract, headers }
}

/** The body, for a handler to return instead of sending it (see `answerSuccess`). */
export function answerStandard(reply: FastifyReply, status: number, body: object): string {
  reply.code(status).headers(STANDARD_HEADERS)
  return JSON.stringify(body)
}

export const sendStandardFailure = (
  reply: FastifyReply,
  { headers, status, error, description }: ReturnType<typeof standardFailureOf>,
): FastifyReply => reply.headers(headers).send(answerStandard(reply, status, { error, error_description: description }))

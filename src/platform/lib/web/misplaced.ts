import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FailureRow, NamedFailure, type OAuthError, renamed } from '../failure.ts'
import { localized } from '../localized-text.ts'
import { envelopeErrorHandler } from './envelope.ts'
import { hasBody } from './read-body.ts'
import { parseQuery, queryOf } from './request-target.ts'

/**
 * A missing parameter may have been sent in the wrong place: the contract reads only the query, the standard dialect
 * only the form. The answer's code stays; its text, and the failure's name in the log, say where the parameter belongs.
 */

/** For the contract's dialect, which reads neither bodies nor tokens in headers. */
export function foundElsewhere(
  thrown: unknown,
  { hasBody, authorization }: { readonly hasBody: boolean; readonly authorization: string | undefined },
): unknown {
  if (!(thrown instanceof NamedFailure)) return thrown
  const { failure, facts } = thrown
  if (failure === 'credentials_missing' && hasBody) return renamed(thrown, 'credentials_in_body')
  if (failure !== 'parameter_missing') return thrown
  if (hasBody) {
    return renamed(thrown, 'parameters_in_body', { what: (name) => localized('parameter-in-body', { name }) })
  }
  const inHeader = facts.detail === 'access_token' && /^bearer\b/i.test(authorization ?? '')
  return inHeader ? renamed(thrown, failure, { what: localized('token-in-header') }) : thrown
}

export function contractErrorHandler(native: boolean) {
  const answer = envelopeErrorHandler(native)
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const { authorization } = request.headers
    answer(foundElsewhere(error, { hasBody: hasBody(request), authorization }), request, reply)
  }
}

/** By failure; `name` is the parameter, if the failure does not name it. */
const MISSING: Readonly<Record<string, { name?: string; description: OAuthError['description'] }>> = {
  parameter_missing: { description: (name) => localized('parameter-in-query', { name }) },
  client_authentication_missing: { name: 'client_id', description: localized('client-in-query') },
  access_token_missing: { name: 'access_token', description: localized('token-in-query') },
}

/** For endpoints of the standard dialect, which read a form or, with GET, a token in a header. */
export function foundInQuery(thrown: unknown, { url, method }: { url: string; method: string }): unknown {
  const missing = thrown instanceof NamedFailure ? MISSING[thrown.failure] : undefined
  if (!missing || !(thrown instanceof NamedFailure)) return thrown
  const name = missing.name ?? thrown.facts.detail
  if (name === undefined || !parseQuery(queryOf(url)).values.has(name)) return thrown
  const { standard } = thrown.row
  const more: Partial<FailureRow> = standard ? { standard: { ...standard, description: missing.description } } : {}
  return renamed(thrown, method === 'POST' ? 'parameters_in_query' : thrown.failure, more)
}

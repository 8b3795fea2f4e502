import { parseQuery, type Query } from '../../platform/lib/web/request-target.ts'
import { oauthFailure, type Parameters } from '../oauth/index.ts'
import { malformed } from './failures.ts'

export const ID_TOKEN_LIFETIME_S = 3_600
/** Life of a pushed request, seconds. */
export const REQUEST_URI_LIFETIME_S = 60

/** Fastify's parser for forms: keeps repeated and undecodable parameters apart, as for a query. */
export const parseForm = (text: string): { form: Query } => ({ form: parseQuery(text) })

const EMPTY = parseQuery('')

/** The form that `parseForm` has read; empty if there was no body. */
export const formOf = (body: unknown): Query =>
  typeof body === 'object' && body !== null && 'form' in body ? (body as ReturnType<typeof parseForm>).form : EMPTY

/** Others are ignored, empty ones count as not sent (RFC 6749 §3.1), repeated and undecodable ones are refused. */
export function readKnown({ values, repeated, undecodable }: Query, names: readonly string[]): Parameters {
  for (const name of undecodable) if (names.includes(name)) throw oauthFailure('parameter_undecodable', { value: name })
  for (const name of repeated) if (names.includes(name)) throw oauthFailure('parameter_repeated', { value: name })
  const known = new Map<string, string>()
  for (const name of names) {
    const value = values.get(name)
    if (!value) continue
    if (value.includes('\0')) throw oauthFailure('parameter_undecodable', { value: name })
    known.set(name, value)
  }
  return known
}

/** `longest`: in bytes. */
export function refuseTooLong(parameters: Parameters, longest: Readonly<Record<string, number>>): void {
  for (const [name, bytes] of Object.entries(longest))
    if (Buffer.byteLength(parameters.get(name) ?? '') > bytes) throw malformed(name)
}

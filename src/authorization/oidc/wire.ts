import { parseQuery, type Query } from '../../platform/lib/web/request-target.ts'
import { oauthFailure, type Parameters } from '../oauth/index.ts'

export const ID_TOKEN_LIFETIME_S = 3_600
/** Life of a pushed request, seconds. */
export const REQUEST_URI_LIFETIME_S = 60

/** A form as it is read for fastify: as a query, not one value or list a name. */
export const parseForm = (text: string): { form: Query } => ({ form: parseQuery(text) })

const EMPTY = parseQuery('')

/** The form of a body that `parseForm` has read; an empty one where there was no body. */
export const formOf = (body: unknown): Query =>
  typeof body === 'object' && body !== null && 'form' in body ? (body as ReturnType<typeof parseForm>).form : EMPTY

/**
 * The parameters of these names. An unknown one is ignored, an empty one counts as not sent (RFC 6749 §3.1); one that
 * is repeated or undecodable is refused.
 */
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

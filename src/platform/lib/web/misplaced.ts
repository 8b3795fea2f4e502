import { NamedFailure, renamed } from '../failure.ts'
import { parseQuery, queryOf } from './request-target.ts'

/**
 * What is missing may have been sent in another place: the contract reads the query alone, the standard dialect the form
 * alone. The answer stays the same; those who look for the reason read the other name.
 */

const IN_BODY: Readonly<Record<string, string>> = {
  parameter_missing: 'parameters_in_body',
  credentials_missing: 'credentials_in_body',
}

/** Of the contract, whose bodies are not read. */
export function foundInBody(thrown: unknown, hasBody: boolean): unknown {
  const name = thrown instanceof NamedFailure && IN_BODY[thrown.failure]
  return name && hasBody ? renamed(thrown, name) : thrown
}

/** By failure: the parameter that is missing, where the failure does not name it. */
const MISSING: Readonly<Record<string, string>> = {
  parameter_missing: '',
  client_authentication_missing: 'client_id',
  access_token_missing: 'access_token',
}

/** Of an endpoint of the standard dialect that reads a form. */
export function foundInQuery(thrown: unknown, { url, method }: { url: string; method: string }): unknown {
  if (!(thrown instanceof NamedFailure) || method !== 'POST') return thrown
  const missing = MISSING[thrown.failure] === '' ? thrown.facts.detail : MISSING[thrown.failure]
  const isThere = missing !== undefined && parseQuery(queryOf(url)).values.has(missing)
  return isThere ? renamed(thrown, 'parameters_in_query') : thrown
}

import type { CustomFetch } from 'openid-client'
import { UPSTREAM_LIMITS } from '../../platform/config/call-limits.ts'
import { ConcurrencyLimit } from '../../platform/lib/concurrency-limit.ts'
import { get, type HttpAnswer, type OutboundDeps, post } from '../../platform/outbound/index.ts'

/** Statuses whose answers have no body. */
const WITHOUT_BODY = [204, 205, 304]
/** What the library reads of an answer's headers. */
const HEADERS = ['content-type', 'www-authenticate'] as const

function responseOf({ status, headers, body }: HttpAnswer): Response {
  const known = HEADERS.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value] as [string, string]] : []
  })
  return new Response(WITHOUT_BODY.includes(status) ? null : new Uint8Array(body), { status, headers: known })
}

/**
 * What the library calls the provider with: bounded in time and size, a few at a time, no redirects. The provider's address
 * is the operator's choice, so it may be a private one.
 */
export function boundedFetch({ calls }: Pick<OutboundDeps, 'calls'>): CustomFetch {
  const guard: OutboundDeps['calls']['guard'] = {
    refuses: () => false,
    trusts: () => true,
    refusesPort: () => false,
    resolve: calls.guard.resolve,
  }
  const turns = new ConcurrencyLimit({ name: 'the OpenID provider', most: 32, length: 200, waitMs: 3_000 })
  return async (url, { method, headers, body }) => {
    const request = { url, headers: { ...headers } }
    const ask = () =>
      method === 'POST'
        ? post({ ...request, body: String(body ?? '') }, guard, UPSTREAM_LIMITS)
        : get(request, guard, UPSTREAM_LIMITS)
    return responseOf(await turns.run(ask))
  }
}

import type { CustomFetch } from 'openid-client'
import { UPSTREAM_LIMITS } from '../../platform/config/call-limits.ts'
import type { Config } from '../../platform/config/index.ts'
import { ConcurrencyLimit } from '../../platform/lib/concurrency-limit.ts'
import { get, type HttpAnswer, type OutboundDeps, post } from '../../platform/outbound/index.ts'
import { UpstreamFailure } from './failures.ts'

const STATUSES_WITHOUT_BODY = [204, 205, 304]
/** The response headers that the library reads. */
const HEADERS = ['content-type', 'www-authenticate'] as const

function responseOf({ status, headers, body }: HttpAnswer): Response {
  const known = HEADERS.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as [string, string]]
  })
  return new Response(STATUSES_WITHOUT_BODY.includes(status) ? null : new Uint8Array(body), { status, headers: known })
}

/** Bounded in time, size and number, without redirects. Operators choose the address, so it may be private. */
export function boundedFetch({ calls }: Pick<OutboundDeps, 'calls'>): CustomFetch {
  const guard: OutboundDeps['calls']['guard'] = {
    refuses: () => false,
    trusts: () => true,
    refusesPort: () => false,
    resolve: calls.guard.resolve,
  }
  const limit = new ConcurrencyLimit({ name: 'the OpenID provider', most: 32, length: 200, waitMs: 3_000 })
  return async (url, { method, headers, body }) => {
    const request = { url, headers: { ...headers } }
    const call = () =>
      method === 'POST'
        ? post({ ...request, body: String(body ?? '') }, guard, UPSTREAM_LIMITS)
        : get(request, guard, UPSTREAM_LIMITS)
    return responseOf(await limit.run(call))
  }
}

export type Discovered = Awaited<ReturnType<typeof discover>>

type Credentials = Pick<Config, 'UPSTREAM_CLIENT_ID' | 'UPSTREAM_CLIENT_SECRET'>

/** Fetches the provider's metadata (OpenID Connect Discovery), and has the signature of each id_token verified. */
export async function discover(
  issuer: URL,
  { UPSTREAM_CLIENT_ID = '', UPSTREAM_CLIENT_SECRET = '' }: Credentials,
  fetch: CustomFetch,
) {
  const library = await import('openid-client') // loaded with the first sign-in
  const basic = library.ClientSecretBasic(UPSTREAM_CLIENT_SECRET)
  const inBody = library.ClientSecretPost(UPSTREAM_CLIENT_SECRET)
  const configuration = await library.discovery(
    issuer,
    UPSTREAM_CLIENT_ID,
    undefined,
    (server, ...rest) => {
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
      return (methods.includes('client_secret_basic') ? basic : inBody)(server, ...rest)
    },
    {
      [library.customFetch]: fetch,
      execute: [
        library.enableNonRepudiationChecks,
        ...(issuer.protocol === 'http:' ? [library.allowInsecureRequests] : []),
      ],
    },
  )
  const { authorization_endpoint, token_endpoint, jwks_uri } = configuration.serverMetadata()
  if (!authorization_endpoint || !token_endpoint || !jwks_uri) {
    throw new UpstreamFailure('away', 'its discovery document lacks an endpoint')
  }
  return { library, configuration }
}

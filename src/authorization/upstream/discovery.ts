import type { Configuration, CustomFetch } from 'openid-client'
import type { Config } from '../../platform/config/index.ts'
import { UpstreamFailure } from './failures.ts'

type Library = typeof import('openid-client')

export interface Discovered {
  readonly library: Library
  readonly configuration: Configuration
}

type Credentials = Pick<Config, 'UPSTREAM_CLIENT_ID' | 'UPSTREAM_CLIENT_SECRET'>

/** Reads what the provider says of itself (OpenID Connect Discovery). The signature of each id_token is verified by its keys. */
export async function discover(
  issuer: URL,
  { UPSTREAM_CLIENT_ID = '', UPSTREAM_CLIENT_SECRET = '' }: Credentials,
  fetch: CustomFetch,
): Promise<Discovered> {
  const library = await import('openid-client') // with the first sign-in
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

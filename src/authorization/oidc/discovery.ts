import type { Config } from '../../platform/config/index.ts'
import { SCOPES, STANDARD_SCOPES } from '../../platform/lib/scope.ts'
import { LOCALE_CODES } from '../../platform/lib/web/locale.ts'
import { TOKEN_AUTH_METHODS } from '../registry/index.ts'
import { acrValuesOf } from './acr.ts'
import { PROMPTS } from './authorize.ts'
import { ASSERTION_ALGS } from './client-assertion.ts'
import { ALGS } from './store.ts'

/** The metadata of OIDC Discovery §3 and RFC 8414 §2. */
export function discoveryDocument(config: Config): Readonly<Record<string, unknown>> {
  const at = (path: string) => `${PUBLIC_URL}/oauth2/${path}`
  const { PUBLIC_URL } = config
  const acrValues = acrValuesOf(config)
  const withSecret = TOKEN_AUTH_METHODS.filter((method) => method !== 'none')
  return {
    issuer: PUBLIC_URL,
    authorization_endpoint: at('authorize'),
    token_endpoint: at('token'),
    userinfo_endpoint: at('userinfo'),
    jwks_uri: at('jwks'),
    introspection_endpoint: at('introspect'),
    revocation_endpoint: at('revoke'),
    pushed_authorization_request_endpoint: at('par'),
    end_session_endpoint: at('logout'),
    scopes_supported: [...Object.keys(STANDARD_SCOPES), ...SCOPES],
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ALGS,
    token_endpoint_auth_methods_supported: TOKEN_AUTH_METHODS,
    revocation_endpoint_auth_methods_supported: TOKEN_AUTH_METHODS,
    introspection_endpoint_auth_methods_supported: withSecret,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGS,
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: PROMPTS,
    ...(acrValues.length > 0 ? { acr_values_supported: acrValues } : {}),
    ui_locales_supported: LOCALE_CODES,
    claims_supported: [
      ...['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash', 'sid', 'acr'],
      ...(acrValues.length > 1 || config.UPSTREAM_ISSUER !== undefined ? ['amr'] : []),
      ...['name', 'preferred_username', 'gender', 'picture', 'updated_at', 'phone_number', 'phone_number_verified'],
    ],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    require_pushed_authorization_requests: false,
    authorization_response_iss_parameter_supported: true,
  }
}

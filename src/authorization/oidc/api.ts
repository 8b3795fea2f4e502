import { z } from 'zod'
import { type ApiOperation, failuresIn, failuresOf } from '../../platform/lib/web/api-operation.ts'
import { OAUTH_CHECKS, OAUTH_FAILURES } from '../oauth/index.ts'
import { RESOURCE_FAILURES } from '../resource/index.ts'
import { OIDC_FAILURES } from './failures.ts'
import * as messages from './messages.ts'

/** The endpoints of the standard dialect as the API reference describes them (src/authorization/developer). */

const standard = { dialect: 'standard', at: 'PUBLIC_URL' } as const
const { clientForm } = messages

const READING = failuresOf(OAUTH_FAILURES, ['parameter_undecodable', 'parameter_repeated'])
const PARAMETERS = { ...READING, ...failuresOf(OAUTH_FAILURES, ['parameter_missing']) }

const CLIENT = {
  ...failuresOf(OIDC_FAILURES, [
    'client_authentication_twice',
    'client_id_differs',
    'client_authentication_missing',
    'client_authentication_unsupported',
    'assertion_unusable',
    'assertion_key_unknown',
    'assertion_for_another',
    'assertion_out_of_time',
    'assertion_used',
  ]),
  ...failuresOf(OAUTH_FAILURES, ['basic_malformed', 'app_unknown', 'credentials_wrong', 'app_not_approved']),
  ...failuresOf(OAUTH_FAILURES, ['too_many_requests']),
}
const CONFIDENTIAL = { ...PARAMETERS, ...CLIENT, ...failuresOf(OIDC_FAILURES, ['client_is_public']) }

/** Mistakes in the request itself: sent to the redirect_uri, or as the response if the request was pushed. */
const REQUEST = {
  ...failuresOf(OAUTH_FAILURES, ['app_not_approved', 'response_type_unsupported', 'scope_unknown', 'scope_not_held']),
  ...failuresOf(OAUTH_FAILURES, ['code_challenge_method_unsupported', 'code_challenge_malformed']),
  ...failuresOf(OIDC_FAILURES, ['parameter_malformed', 'request_object', 'request_uri_foreign', 'registration']),
  ...failuresOf(OIDC_FAILURES, ['challenge_missing', 'prompt_contradictory']),
}
const CLIENT_OF_REQUEST = {
  ...failuresOf(OIDC_FAILURES, ['client_unknown', 'redirect_uri_unknown']),
  ...failuresOf(OAUTH_FAILURES, ['redirect_uri_not_loopback']),
}

/** Failures before the client and its redirect_uri are known. */
const AUTHORIZE = {
  ...PARAMETERS,
  ...failuresOf(OAUTH_FAILURES, ['too_many_requests', 'app_in_development']),
  ...CLIENT_OF_REQUEST,
  ...failuresOf(OIDC_FAILURES, ['request_too_long', 'request_uri_unusable', 'continuation_unusable']),
}
const REDIRECTED = {
  ...PARAMETERS,
  ...REQUEST,
  ...failuresOf(OIDC_FAILURES, ['login_required', 'consent_required', 'user_refused', 'user_blocked']),
}

const LOGOUT = {
  ...READING,
  ...failuresOf(OIDC_FAILURES, [
    'parameter_malformed',
    'client_id_differs',
    'client_unknown',
    'logout_client_missing',
    'post_logout_uri_unknown',
    'continuation_unusable',
  ]),
}

/** Failures of a code or refresh token. Those without a `standard` column cannot occur here. */
const GRANT = {
  ...Object.fromEntries(
    Object.entries(failuresIn(OAUTH_FAILURES, [OAUTH_CHECKS.A2, OAUTH_CHECKS.A3], 8)).filter(([, row]) => row.standard),
  ),
  ...failuresOf(OAUTH_FAILURES, ['scope_beyond_grant']),
}

const USERINFO = {
  ...READING,
  ...failuresOf(OIDC_FAILURES, ['access_token_missing', 'access_token_twice']),
  ...failuresOf(RESOURCE_FAILURES, [
    'token_forged',
    'token_unknown',
    'token_ended_early',
    'token_revoked',
    'token_expired',
  ]),
  ...failuresOf(RESOURCE_FAILURES, ['app_not_approved', 'user_blocked', 'token_lacks_scope']),
}

/** Parameters of a redirect back to the app. */
const authorizationResponse = z.object({
  code: z.string().optional(),
  state: z.string().optional(),
  iss: z.string(),
  error: z.string().optional(),
  error_description: z.string().optional(),
})
const signedOut = z.object({ state: z.string().optional() })
/** A request_uri replaces all other parameters except client_id. */
const authorizeQuery = messages.authorizeQuery.extend({ request_uri: z.string().optional() })
const document = z.looseObject({ issuer: z.string(), authorization_endpoint: z.string(), token_endpoint: z.string() })

const open = { ...standard, method: 'get', caller: 'anybody', failures: {} } as const
const discovery = { ...open, answers: { 200: { json: document } } } as const
const authorize = {
  ...standard,
  path: '/oauth2/authorize',
  caller: 'anybody',
  answers: { 200: 'page', 303: { redirect: authorizationResponse } },
  failures: AUTHORIZE,
  redirected: REDIRECTED,
} as const
const userinfo = {
  ...standard,
  path: '/oauth2/userinfo',
  caller: 'token',
  answers: { 200: { json: messages.userInfo } },
  failures: USERINFO,
} as const
const logout = {
  ...standard,
  path: '/oauth2/logout',
  caller: 'anybody',
  answers: { 200: 'page', 303: { redirect: signedOut } },
  failures: LOGOUT,
} as const
const post = { ...standard, method: 'post', caller: 'client' } as const
const aboutToken = clientForm.extend(messages.tokenForm.shape)

export const OIDC_API: readonly ApiOperation[] = [
  { ...discovery, id: 'openid_configuration', path: '/.well-known/openid-configuration' },
  { ...discovery, id: 'server_metadata', path: '/.well-known/oauth-authorization-server' },
  { ...authorize, id: 'authorize', method: 'get', query: [authorizeQuery] },
  { ...authorize, id: 'authorize_form', method: 'post', form: [authorizeQuery] },
  {
    ...post,
    id: 'push_request',
    path: '/oauth2/par',
    form: [clientForm.extend(messages.authorizeQuery.shape)],
    answers: { 201: { json: messages.pushedAuthorizationResponse } },
    failures: { ...PARAMETERS, ...CLIENT, ...CLIENT_OF_REQUEST, ...REQUEST },
  },
  {
    ...post,
    id: 'token',
    path: '/oauth2/token',
    form: [clientForm.extend(messages.exchangeForm.shape), clientForm.extend(messages.refreshForm.shape)],
    answers: { 200: { json: messages.tokenResponse } },
    failures: { ...PARAMETERS, ...CLIENT, ...GRANT },
  },
  { ...userinfo, id: 'userinfo', method: 'get' },
  { ...userinfo, id: 'userinfo_form', method: 'post', form: [messages.bearerForm] },
  {
    ...post,
    id: 'introspect',
    path: '/oauth2/introspect',
    form: [aboutToken],
    answers: { 200: { json: messages.introspection } },
    failures: CONFIDENTIAL,
  },
  {
    ...post,
    id: 'revoke',
    path: '/oauth2/revoke',
    form: [aboutToken],
    answers: { 200: { json: z.strictObject({}) } },
    failures: { ...PARAMETERS, ...CLIENT },
  },
  { ...open, id: 'jwks', path: '/oauth2/jwks', answers: { 200: { json: messages.jwks } } },
  { ...logout, id: 'logout', method: 'get', query: [messages.logoutQuery] },
  { ...logout, id: 'logout_form', method: 'post', form: [messages.logoutQuery] },
]

import type { Deps } from '../../platform/deps.ts'
import { isScope, type Scope } from '../../platform/lib/scope.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import { findMicroAppForAuthentication, type MicroApp } from '../registry/index.ts'
import { oauthFailure } from './failures.ts'
import type { SignInOfGrant } from './grant-store.ts'
import { checkRedirectUri, type RedirectRules } from './redirect-uri.ts'
import { type Parameters, required } from './wire.ts'

/** A valid authorization request of either dialect (the contract's: A1 rows 3–10). */
export interface AuthorizationRequest {
  readonly app: MicroApp
  /** Exactly as sent: the exchange compares it byte by byte. */
  readonly redirectUri: string
  readonly redirectUrl: URL
  /** Empty if the request had none, as OAuth 2.0 allows. */
  readonly state: string
  /** Scope names of both dialects (src/platform/lib/scope.ts). */
  readonly scopes: readonly string[]
  /** PKCE (RFC 7636), S256 only; null when the app does not use it. */
  readonly codeChallenge: string | null
  /** What the id_token reports about the sign-in; null in the contract's dialect, which has no id_token. */
  readonly signIn: SignInOfGrant | null
  /** Whether this consent is remembered, so that the user is not asked for these scopes again. */
  readonly remembered: boolean
}

/** A1 rows 3–10, in that order. Nothing is ever sent to a redirect_uri that has not passed row 7. */
export async function checkAuthorizationRequest(deps: Deps, parameters: Parameters): Promise<AuthorizationRequest> {
  checkResponseType(parameters)
  const app = await findRequestingApp(deps, parameters)
  const { redirectUri, redirectUrl } = checkRedirect(parameters, app)
  const state = checkState(parameters)
  const scopes = checkScopes(parameters, app)
  const codeChallenge = checkPkce(parameters)
  if (app.require_pkce_in_a1 && codeChallenge === null) {
    throw oauthFailure('parameter_missing', { value: 'code_challenge', detail: 'code_challenge' })
  }
  return { app, redirectUri, redirectUrl, state, scopes, codeChallenge, signIn: null, remembered: false }
}

function checkResponseType(parameters: Parameters): void {
  const responseType = required(parameters, 'response_type')
  if (responseType !== 'code') throw oauthFailure('response_type_unsupported', { value: responseType })
}

async function findRequestingApp(deps: Deps, parameters: Parameters): Promise<MicroApp> {
  const app = await findMicroAppForAuthentication(deps, required(parameters, 'app_key'))
  if (!app) throw oauthFailure('app_unknown')
  if (app.status !== 'approved') throw oauthFailure('app_not_approved', { detail: app.status })
  return app
}

/** A public client's code needs no secret: an attacker would choose the laxer dialect (RFC 9700 §2.1). */
const rulesOf = (app: MicroApp): RedirectRules =>
  app.token_auth_methods.includes('none') ? { ...app, hosts: [] } : app

function checkRedirect(parameters: Parameters, app: MicroApp): { redirectUri: string; redirectUrl: URL } {
  const redirectUri = required(parameters, 'redirect_uri')
  const redirectUrl = checkRedirectUri(redirectUri, rulesOf(app))
  if (redirectUrl === 'not-a-url') throw oauthFailure('redirect_uri_not_absolute', { value: redirectUri })
  if (redirectUrl === 'mismatch') throw oauthFailure('redirect_uri_not_registered')
  if (redirectUrl === 'has-fragment') throw oauthFailure('redirect_uri_with_fragment')
  if (redirectUrl === 'has-answer') throw oauthFailure('redirect_uri_with_answer')
  if (app.stage === 'development' && !isLoopbackHost(redirectUrl.hostname)) {
    throw oauthFailure('redirect_uri_not_loopback')
  }
  return { redirectUri, redirectUrl }
}

function checkState(parameters: Parameters): string {
  const state = required(parameters, 'state')
  if (!/^[A-Za-z0-9]+$/.test(state)) throw oauthFailure('state_malformed', { value: state })
  if (state.length > 128) throw oauthFailure('state_too_long', { value: String(state.length) })
  return state
}

function checkScopes(parameters: Parameters, app: MicroApp): readonly Scope[] {
  const text = parameters.get('scope')
  if (text === undefined) throw oauthFailure('parameter_missing', { value: 'scope', detail: 'scope' })
  const asked = [...new Set(text.split(' ').filter((scope) => scope !== ''))]
  if (asked.length === 0) throw oauthFailure('scope_unknown')
  const unknown = asked.find((scope) => !isScope(scope))
  if (unknown !== undefined) throw oauthFailure('scope_unknown', { value: unknown })
  const scopes = asked.filter(isScope)
  const denied = scopes.find((scope) => !app.scopes.includes(scope))
  if (denied) throw oauthFailure('scope_not_held', { detail: denied })
  return scopes
}

/** The PKCE challenge; null without one. */
export function checkPkce(parameters: Parameters): string | null {
  const challenge = parameters.get('code_challenge') || undefined // an empty one counts as missing
  const method = parameters.get('code_challenge_method') || undefined
  if (challenge === undefined && method === undefined) return null
  if (method !== 'S256') throw oauthFailure('code_challenge_method_unsupported', { value: method ?? '' })
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge ?? ''))
    throw oauthFailure('code_challenge_malformed', { value: challenge ?? '' })
  return challenge ?? null
}

/** The request as a query, which is validated again when the consent form is posted. */
export function consentQuery({ app, redirectUri, state, scopes, codeChallenge }: AuthorizationRequest): string {
  const pkce = codeChallenge ? { code_challenge: codeChallenge, code_challenge_method: 'S256' } : {}
  const parameters = {
    response_type: 'code',
    app_key: app.app_key,
    redirect_uri: redirectUri,
    state,
    scope: scopes.join(' '),
    ...pkce,
  }
  return new URLSearchParams(parameters).toString()
}

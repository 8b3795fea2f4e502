import type { Deps } from '../deps.ts'
import { invalidRequest } from '../lib/web/rescode.ts'
import { hostMatches } from '../registry/host.ts'
import { findMicroAppForAuthentication } from '../registry/secret.ts'
import type { MicroApp } from '../registry/wire.ts'
import {
  appNotTrusted,
  badClientCredentials,
  insufficientScope,
  invalidScope,
  missing,
  redirectMismatch,
  unsupportedResponseType,
} from './errors.ts'
import { checkRedirectUri } from './redirect-uri.ts'
import { isScope, type Parameters, required, type Scope } from './wire.ts'

/** What a micro-app asks for, after A1 rows 3–10 have passed. */
export interface AuthorizationRequest {
  readonly app: MicroApp
  /** Exactly as sent: the exchange compares it byte by byte. */
  readonly redirectUri: string
  readonly redirectUrl: URL
  readonly state: string
  readonly scopes: readonly Scope[]
  /** PKCE (RFC 7636), S256 only; null when the app does not use it. */
  readonly codeChallenge: string | null
}

/** A1 rows 3–10, in that order. Nothing is ever sent to a redirect_uri that has not passed row 7. */
export async function checkAuthorizationRequest(deps: Deps, parameters: Parameters): Promise<AuthorizationRequest> {
  checkResponseType(parameters)
  const app = await findRequestingApp(deps, parameters)
  const { redirectUri, redirectUrl } = checkRedirect(parameters, app)
  const state = checkState(parameters)
  const scopes = checkScopes(parameters, app)
  const codeChallenge = checkPkce(parameters)
  return { app, redirectUri, redirectUrl, state, scopes, codeChallenge }
}

function checkResponseType(parameters: Parameters): void {
  const responseType = required(parameters, 'response_type')
  if (responseType !== 'code') throw unsupportedResponseType(responseType)
}

async function findRequestingApp(deps: Deps, parameters: Parameters): Promise<MicroApp> {
  const app = await findMicroAppForAuthentication(deps, required(parameters, 'app_key'))
  if (!app) throw badClientCredentials()
  if (app.status !== 'approved') throw appNotTrusted(`the app is ${app.status}`)
  return app
}

function checkRedirect(parameters: Parameters, app: MicroApp): { redirectUri: string; redirectUrl: URL } {
  const redirectUri = required(parameters, 'redirect_uri')
  const redirectUrl = checkRedirectUri(redirectUri, app, hostMatches)
  if (redirectUrl === 'not-a-url') throw invalidRequest('redirect_uri is not an absolute URL')
  if (redirectUrl === 'mismatch') throw redirectMismatch()
  return { redirectUri, redirectUrl }
}

function checkState(parameters: Parameters): string {
  const state = required(parameters, 'state')
  if (!/^[A-Za-z0-9]+$/.test(state)) throw invalidRequest('state may hold only the characters a-z, A-Z and 0-9')
  if (state.length > 128) throw invalidRequest('state is longer than 128 bytes')
  return state
}

function checkScopes(parameters: Parameters, app: MicroApp): readonly Scope[] {
  const text = parameters.get('scope')
  if (text === undefined) throw missing('scope')
  const asked = [...new Set(text.split(' ').filter((scope) => scope !== ''))]
  if (asked.length === 0) throw invalidScope('')
  const unknown = asked.find((scope) => !isScope(scope))
  if (unknown !== undefined) throw invalidScope(unknown)
  const scopes = asked.filter(isScope)
  const denied = scopes.find((scope) => !app.scopes.includes(scope))
  if (denied) throw insufficientScope(`the app does not hold ${denied}`)
  return scopes
}

function checkPkce(parameters: Parameters): string | null {
  const challenge = parameters.get('code_challenge')
  const method = parameters.get('code_challenge_method')
  if (challenge === undefined && method === undefined) return null
  if (method !== 'S256') throw invalidRequest('code_challenge_method must be S256')
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge ?? '')) {
    throw invalidRequest('code_challenge must be the 43 characters of a base64url SHA-256')
  }
  return challenge ?? null
}

import type { Deps } from '../../platform/deps.ts'
import { NamedFailure, oauthErrorOf } from '../../platform/lib/failure.ts'
import { grantableScopes, isScope, STANDARD_SCOPES, withContractScopes } from '../../platform/lib/scope.ts'
import type { Query } from '../../platform/lib/web/request-target.ts'
import { Refusal } from '../../platform/lib/web/rescode.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import {
  type AuthorizationRequest,
  checkPkce,
  oauthFailure,
  type Parameters,
  required,
  withResponseParameters,
} from '../oauth/index.ts'
import { findMicroAppForAuthentication, type MicroApp } from '../registry/index.ts'
import { oidcFailure } from './failures.ts'
import { type OidcDeps, readHint } from './id-token.ts'
import { authorizeQuery, namesOf } from './messages.ts'
import { isRedirectUri } from './redirect-uri.ts'
import { readKnown } from './wire.ts'

/** Where an answer goes: known once the client and its redirect_uri are. */
export interface ResponseTarget {
  readonly appKey: string
  readonly redirectUri: string
  readonly responseMode: 'query' | 'form_post'
  readonly state: string | undefined
}

/** A standard authorization request, as a client may make it. */
export interface StandardRequest extends AuthorizationRequest {
  readonly target: ResponseTarget
  readonly nonce: string | null
  /** How the person should have signed in, the most wanted first; null where the id_token need not say. */
  readonly acrValues: readonly string[] | null
  readonly prompt: readonly string[]
  /** Seconds since the person last proved who they are, at most. */
  readonly maxAge: number | undefined
  readonly loginHint: string | undefined
  readonly uiLocales: string | undefined
  /** Who has to be signed in: the `sub` of the id_token_hint. */
  readonly expectedSub: string | undefined
  /** The parameters that were understood, to be checked again after sign-in or consent. */
  readonly query: string
}

/** The request is refused by way of the browser, at the client's redirect_uri. */
export class RedirectedFailure extends Refusal {
  override readonly name = 'RedirectedFailure'
  readonly failure: NamedFailure
  readonly target: ResponseTarget

  constructor(failure: NamedFailure, target: ResponseTarget) {
    super(failure.message)
    this.failure = failure
    this.target = target
  }
}

const CLIENT = ['client_id', 'redirect_uri']
const AUTHORIZE_PARAMETERS = namesOf(authorizeQuery)
/** Named only to be refused. */
const REFUSED = ['request', 'request_uri', 'registration']

/** In bytes; what is not named here has few values, or is registered. */
const LONGEST = { state: 1_024, nonce: 512, id_token_hint: 4_096, scope: 1_024, prompt: 128 } as const
/** Over-long they are ignored: the request does not depend on them. */
const LONGEST_WISH = { login_hint: 512, ui_locales: 256, acr_values: 512 } as const
const PROMPTS = ['none', 'login', 'consent', 'select_account']

/**
 * Who asks and where the answer goes comes first: until both are known nothing is redirected (RFC 6749 §4.1.2.1). All
 * else is refused at the redirect_uri, as a RedirectedFailure.
 */
export async function checkStandardRequest(deps: OidcDeps, query: Query): Promise<StandardRequest> {
  const app = await findClient(deps, readKnown(query, CLIENT))
  const redirectUri = checkRedirect(app, readKnown(query, CLIENT))
  const target = targetOf(app, redirectUri, query)
  try {
    return await checkRest(deps, app, target, query)
  } catch (error) {
    throw error instanceof NamedFailure ? new RedirectedFailure(error, target) : error
  }
}

async function findClient(deps: Deps, parameters: Parameters): Promise<MicroApp> {
  const app = await findMicroAppForAuthentication(deps, required(parameters, 'client_id'))
  if (!app) throw oidcFailure('client_unknown')
  return app
}

function checkRedirect(app: MicroApp, parameters: Parameters): string {
  const redirectUri = required(parameters, 'redirect_uri')
  if (!isRedirectUri(app, redirectUri)) throw oidcFailure('redirect_uri_unknown')
  if (app.stage === 'development' && !isLoopbackHost(new URL(redirectUri).hostname)) {
    throw oauthFailure('redirect_uri_not_loopback')
  }
  return redirectUri
}

/** Read leniently, so that a request which is refused is answered where the client expects it. */
function targetOf({ app_key: appKey }: MicroApp, redirectUri: string, { values, repeated }: Query): ResponseTarget {
  const state = values.get('state')
  const usable = state && !repeated.includes('state') && Buffer.byteLength(state) <= LONGEST.state ? state : undefined
  return {
    appKey,
    redirectUri,
    responseMode: values.get('response_mode') === 'form_post' ? 'form_post' : 'query',
    state: usable,
  }
}

async function checkRest(
  deps: OidcDeps,
  app: MicroApp,
  target: ResponseTarget,
  query: Query,
): Promise<StandardRequest> {
  if (app.status !== 'approved') throw oauthFailure('app_not_approved', { detail: app.status })
  const refused = readKnown(query, REFUSED)
  if (refused.has('request')) throw oidcFailure('request_object')
  if (refused.has('request_uri')) throw oidcFailure('request_uri_foreign')
  if (refused.has('registration')) throw oidcFailure('registration')
  const parameters = new Map(readKnown(query, AUTHORIZE_PARAMETERS))
  for (const [name, longest] of Object.entries(LONGEST_WISH)) {
    if (Buffer.byteLength(parameters.get(name) ?? '') > longest) parameters.delete(name)
  }
  for (const [name, longest] of Object.entries(LONGEST)) {
    if (Buffer.byteLength(parameters.get(name) ?? '') > longest)
      throw oidcFailure('parameter_malformed', { value: name, detail: name })
  }
  checkResponse(parameters)
  const hinted = parameters.get('id_token_hint')
  const nonce = parameters.get('nonce') ?? null
  return {
    app,
    redirectUri: target.redirectUri,
    redirectUrl: new URL(target.redirectUri),
    state: target.state ?? '',
    scopes: checkScopes(app, parameters),
    codeChallenge: checkChallenge(app, parameters),
    signIn: null,
    remembered: true,
    target,
    nonce,
    acrValues: parameters.get('acr_values')?.split(' ') ?? null,
    prompt: checkPrompt(parameters),
    maxAge: checkMaxAge(parameters),
    loginHint: parameters.get('login_hint'),
    uiLocales: parameters.get('ui_locales'),
    expectedSub: hinted === undefined ? undefined : await checkHint(deps, hinted),
    query: new URLSearchParams([...parameters]).toString(),
  }
}

function checkResponse(parameters: Parameters): void {
  const type = required(parameters, 'response_type')
  if (type !== 'code') throw oauthFailure('response_type_unsupported', { value: type })
  const mode = parameters.get('response_mode') ?? 'query'
  if (mode !== 'query' && mode !== 'form_post')
    throw oidcFailure('parameter_malformed', { value: 'response_mode', detail: 'response_mode' })
}

/** Scopes that nobody knows are ignored (OIDC Core §3.1.2.1): libraries ask for `email` unasked. */
function checkScopes(app: MicroApp, parameters: Parameters): string[] {
  const asked = new Set((parameters.get('scope') ?? '').split(' '))
  const known = [...asked].filter((scope) => Object.hasOwn(STANDARD_SCOPES, scope) || isScope(scope))
  if (known.length === 0) throw oauthFailure('scope_unknown')
  const grantable = grantableScopes(app.scopes)
  const denied = known.find((scope) => !grantable.includes(scope))
  if (denied) throw oauthFailure('scope_not_held', { detail: denied })
  return withContractScopes(known)
}

function checkChallenge(app: MicroApp, parameters: Parameters): string | null {
  const challenge = checkPkce(parameters)
  const required = app.require_pkce || app.token_auth_methods.includes('none')
  if (required && challenge === null) throw oidcFailure('challenge_missing')
  return challenge
}

function checkPrompt(parameters: Parameters): readonly string[] {
  const prompt = [...new Set((parameters.get('prompt') ?? '').split(' ').filter((value) => value !== ''))]
  const isKnown = prompt.every((value) => PROMPTS.includes(value))
  if (!isKnown || (prompt.includes('none') && prompt.length > 1)) throw oidcFailure('prompt_contradictory')
  return prompt
}

function checkMaxAge(parameters: Parameters): number | undefined {
  const text = parameters.get('max_age')
  if (text === undefined) return undefined
  if (!/^\d{1,9}$/.test(text)) throw oidcFailure('parameter_malformed', { value: 'max_age', detail: 'max_age' })
  return Number(text)
}

async function checkHint(deps: OidcDeps, text: string): Promise<string> {
  const hint = await readHint(deps, text)
  if (!hint) throw oidcFailure('parameter_malformed', { value: 'id_token_hint', detail: 'id_token_hint' })
  return hint.sub
}

/** What goes back to the client by way of the browser. */
export type AuthorizationResponse =
  | { readonly mode: 'query'; readonly url: string }
  | { readonly mode: 'form_post'; readonly url: string; readonly fields: Readonly<Record<string, string>> }

/** With `state`, and with `iss` (RFC 9207) against responses of another server. */
function responseAt({ config }: Deps, target: ResponseTarget, content: Readonly<Record<string, string>>) {
  const { redirectUri, responseMode, state } = target
  const fields = { ...content, ...(state === undefined ? {} : { state }), iss: config.PUBLIC_URL }
  return responseMode === 'form_post'
    ? ({ mode: 'form_post', url: redirectUri, fields } as const)
    : ({ mode: 'query', url: withResponseParameters(redirectUri, fields) } as const)
}

export const codeResponse = (deps: Deps, target: ResponseTarget, code: string): AuthorizationResponse =>
  responseAt(deps, target, { code })

export function errorResponse(deps: Deps, { failure, target }: RedirectedFailure): AuthorizationResponse {
  const { error, description } = oauthErrorOf(failure)
  return responseAt(deps, target, { error, error_description: description })
}

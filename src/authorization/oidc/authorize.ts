import { decodeJwt } from 'jose'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { NamedFailure, oauthErrorOf } from '../../platform/lib/failure.ts'
import { readOr } from '../../platform/lib/read-or.ts'
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
import { malformed, oidcFailure } from './failures.ts'
import { type OidcDeps, readHint } from './id-token.ts'
import { authorizeQuery, namesOf } from './messages.ts'
import { isRedirectUri } from './redirect-uri.ts'
import { readKnown, refuseTooLong } from './wire.ts'

/** Where the response goes: known once the client and its redirect_uri are. */
export interface ResponseTarget {
  readonly appKey: string
  readonly redirectUri: string
  readonly responseMode: 'query' | 'form_post'
  readonly state: string | undefined
}

/** A valid authorization request of the standard dialect. */
export interface StandardRequest extends AuthorizationRequest {
  readonly target: ResponseTarget
  readonly nonce: string | null
  /** In order of preference; null if the request does not ask for `acr`. */
  readonly acrValues: readonly string[] | null
  readonly prompt: readonly string[]
  /** The greatest time since the person last authenticated, seconds. */
  readonly maxAge: number | undefined
  readonly loginHint: string | undefined
  readonly uiLocales: string | undefined
  /** Who must be signed in: the `sub` of the id_token_hint. */
  readonly expectedSub: string | undefined
  /** The known parameters, to be validated again after sign-in or consent. */
  readonly query: string
}

/** A refusal that is reported at the client's redirect_uri, through the browser. */
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

const TARGET_PARAMETERS = ['client_id', 'redirect_uri']
const AUTHORIZE_PARAMETERS = namesOf(authorizeQuery)
/** Known only to be refused. */
const UNSUPPORTED = ['request', 'request_uri', 'registration']

/** In bytes. Other parameters have few values or are registered. */
const LONGEST = { state: 1_024, nonce: 512, id_token_hint: 4_096, scope: 1_024, prompt: 128 } as const
/** In bytes. These are ignored if too long: the request does not depend on them. */
const LONGEST_HINT = { login_hint: 512, ui_locales: 256, acr_values: 512 } as const
/** 31 years, longer than any session: the request does not depend on more, which some clients send for "no limit". */
const LONGEST_MAX_AGE_S = 999_999_999
export const PROMPTS = ['none', 'login', 'consent', 'select_account']

/** Until the client and its redirect_uri are known, nothing is redirected (RFC 6749 §4.1.2.1); then, RedirectedFailure. */
export async function checkStandardRequest(deps: OidcDeps, query: Query): Promise<StandardRequest> {
  const parameters = readKnown(query, TARGET_PARAMETERS)
  const app = await findClient(deps, parameters)
  const target = targetOf(app, checkRedirect(app, parameters), query)
  try {
    return await checkParameters(deps, app, target, query)
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

/** How to answer: request objects are refused, but these parameters may be nowhere else (OIDC Core §6.1). */
const answerParameters = z.object({ state: z.string(), response_mode: z.string() }).partial()
const readRequestObject = (text: string) => answerParameters.safeParse(readOr(() => decodeJwt(text), undefined)).data

/** Read leniently, so that a refused request is answered in the way that the client expects. */
function targetOf({ app_key: appKey }: MicroApp, redirectUri: string, { values, repeated }: Query): ResponseTarget {
  const request = values.get('request')
  const object = request ? readRequestObject(request) : undefined
  const state = values.get('state') ?? object?.state
  const usable = state && !repeated.includes('state') && Buffer.byteLength(state) <= LONGEST.state ? state : undefined
  return {
    appKey,
    redirectUri,
    responseMode: (values.get('response_mode') ?? object?.response_mode) === 'form_post' ? 'form_post' : 'query',
    state: usable,
  }
}

async function checkParameters(
  deps: OidcDeps,
  app: MicroApp,
  target: ResponseTarget,
  query: Query,
): Promise<StandardRequest> {
  if (app.status !== 'approved') throw oauthFailure('app_not_approved', { detail: app.status })
  const unsupported = readKnown(query, UNSUPPORTED)
  if (unsupported.has('request')) throw oidcFailure('request_object')
  if (unsupported.has('request_uri')) throw oidcFailure('request_uri_foreign')
  if (unsupported.has('registration')) throw oidcFailure('registration')
  const parameters = new Map(readKnown(query, AUTHORIZE_PARAMETERS))
  for (const [name, longest] of Object.entries(LONGEST_HINT)) {
    if (Buffer.byteLength(parameters.get(name) ?? '') > longest) parameters.delete(name)
  }
  refuseTooLong(parameters, LONGEST)
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
  if (mode !== 'query' && mode !== 'form_post') throw malformed('response_mode')
}

/** Unknown scopes are ignored (OIDC Core §3.1.2.1): libraries ask for `email` by default, when they refresh too. */
export const knownScopes = (parameters: Parameters): string[] =>
  [...new Set((parameters.get('scope') ?? '').split(' '))].filter(
    (scope) => Object.hasOwn(STANDARD_SCOPES, scope) || isScope(scope),
  )

function checkScopes(app: MicroApp, parameters: Parameters): string[] {
  const known = knownScopes(parameters)
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
  if (!/^\d+$/.test(text)) throw malformed('max_age')
  return Math.min(Number(text), LONGEST_MAX_AGE_S)
}

async function checkHint(deps: OidcDeps, text: string): Promise<string> {
  const hint = await readHint(deps, text)
  if (!hint) throw malformed('id_token_hint')
  return hint.sub
}

/** What goes back to the client through the browser. */
export type AuthorizationResponse = ReturnType<typeof responseAt>

/** Adds `state`, and `iss` (RFC 9207) so that the client does not take another server's response for ours. */
function responseAt({ config }: Deps, target: ResponseTarget, own: Readonly<Record<string, string>>) {
  const { redirectUri, responseMode, state } = target
  const fields = { ...own, ...(state === undefined ? {} : { state }), iss: config.PUBLIC_URL }
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

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findSession, sessionCookie } from '../account/index.ts'
import { standardNames } from '../lib/scope.ts'
import { AREA_A_HEADERS } from '../lib/web/envelope.ts'
import { acceptForms, refuseForeignForms } from '../lib/web/forms.ts'
import { actorOf, noteForLog } from '../lib/web/observe.ts'
import { sendPage } from '../lib/web/page.ts'
import { parseQuery, type Query, queryOf } from '../lib/web/request-target.ts'
import { decideConsent, oauthFailure, type Parameters, signConsentForm } from '../oauth/index.ts'
import { limitRate } from '../throttle/index.ts'
import { type AuthorizationResponse, codeResponse, errorResponse } from './authorization-response.ts'
import { checkStandardRequest, RedirectedFailure, type StandardRequest } from './authorize.ts'
import { type Continuation, signContinuation, verifyContinuation } from './continuation.ts'
import { sendStandardErrorPage } from './error-routes.ts'
import { oidcFailure } from './failures.ts'
import type { OidcDeps } from './id-token.ts'
import { nextAuthorizationStep, withSignIn } from './next-step.ts'
import { isPushed, takeRequest } from './pushed-request.ts'
import { formOf, parseForm } from './wire.ts'

const AUTHORIZE = '/oauth2/authorize'
const CONSENT = '/oauth2/consent'
const LONGEST_URL = 8 * 1024
const FORM_LIMIT = 64 * 1024

/** The authorization endpoint and the consent form (OIDC Core §3.1.2, RFC 9126 §4). */
export async function authorizeRoutes(app: FastifyInstance, { deps }: { deps: OidcDeps }): Promise<void> {
  const { config } = deps
  const cookie = sessionCookie(config)
  await acceptForms(app, FORM_LIMIT, parseForm)
  const tooMany = (retryAfterS: number) => oauthFailure('too_many_requests', { retryAfterS })
  // One limit for the pages of both dialects.
  const limit = { kind: 'authorization page', perMinute: config.AUTHORIZE_PER_MINUTE, refuse: tooMany }
  app.addHook('onRequest', limitRate(app, limit))
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof RedirectedFailure)) return sendStandardErrorPage(error, request, reply)
    noteForLog(request, { detail: error.failure.failure })
    return sendResponse(request, reply, errorResponse(deps, error))
  })

  app.get('/authorize', { config: { answersHead: false } }, async (request, reply) => {
    const query = readQuery(request)
    const signed = query.values.get('continue')
    if (signed !== undefined) return goOn(request, reply, verifyContinuation(deps, 'authorize', signed))
    if (isPushed(query)) return sendOn(reply, await takeRequest(deps, query))
    return goOn(request, reply, { query: queryOf(request.raw.url ?? ''), signedInSince: null })
  })

  // A form of another site comes without our cookie. Nothing of it is decided here: the browser asks again by GET.
  app.post('/authorize', async (request, reply) => {
    const form = formOf(request.body)
    const query = isPushed(form) ? await takeRequest(deps, form) : (await checkStandardRequest(deps, form)).query
    return sendOn(reply, query)
  })

  const sendOn = (reply: FastifyReply, query: string) => {
    const signed = signContinuation(deps, 'authorize', { query, signedInSince: null })
    return reply.headers(AREA_A_HEADERS).redirect(`${AUTHORIZE}?continue=${signed}`, 303)
  }

  async function goOn(request: FastifyRequest, reply: FastifyReply, continuation: Continuation) {
    const authorization = await checkStandardRequest(deps, parseQuery(continuation.query))
    noteForLog(request, { appKey: authorization.app.app_key, isAppUnauthenticated: true })
    const session = await findSession(deps, cookie.read(request))
    const next = await nextAuthorizationStep(deps, authorization, session, continuation.signedInSince)
    if (next.step === 'answer') return sendResponse(request, reply, codeResponse(deps, authorization.target, next.code))
    if (next.step === 'sign-in') return sendToSignIn(reply, authorization)
    const { app: client, redirectUrl, scopes, query } = authorization
    const data = {
      app: { name: client.name, logoUrl: client.logo_url },
      host: redirectUrl.host,
      scopes: standardNames(scopes).map((id) => ({ id })),
      user: { name: next.session.name, avatarUrl: next.session.avatarUrl },
      action: CONSENT,
      form: signConsentForm(deps, query, next.session.sessionHash),
      signOut: { action: '/sign-out', returnTo: request.raw.url },
    }
    return sendPage(request, reply, 'oauth/consent', data, { formAction: formActionFor(redirectUrl) })
  }

  function sendToSignIn(reply: FastifyReply, { query, loginHint, uiLocales }: StandardRequest) {
    const signed = signContinuation(deps, 'authorize', { query, signedInSince: deps.clock.now() })
    const parameters = new URLSearchParams({
      return_to: `${AUTHORIZE}?continue=${signed}`,
      ...(loginHint === undefined ? {} : { login_hint: loginHint }),
      ...(uiLocales === undefined ? {} : { ui_locales: uiLocales }),
    })
    return reply.headers(AREA_A_HEADERS).redirect(`/sign-in?${parameters}`, 303)
  }

  const fromAnotherSite = () => oauthFailure('form_from_another_site')
  const onRequest = refuseForeignForms(config.PUBLIC_URL, fromAnotherSite)
  app.post('/consent', { onRequest }, async (request, reply) => {
    const session = await findSession(deps, cookie.read(request))
    if (!session) throw oauthFailure('form_without_session')
    const { values } = formOf(request.body)
    const [form, decision] = [values.get('authorization_request'), values.get('decision')]
    if (form === undefined || decision === undefined) throw oauthFailure('form_incomplete')
    const check = async (parameters: Parameters) => {
      const checked = await checkStandardRequest(deps, parseQuery(new URLSearchParams([...parameters]).toString()))
      return withSignIn(deps, checked, session)
    }
    const acting = { ...deps, actor: actorOf(request, 'user') }
    const decided = await decideConsent(acting, { session, form, decision, check, appParameter: 'client_id' })
    const { target, app: client } = decided.request
    noteForLog(request, { appKey: client.app_key, isAppUnauthenticated: true })
    if (decided.code === undefined) throw new RedirectedFailure(oidcFailure('user_refused'), target)
    return sendResponse(request, reply, codeResponse(deps, target, decided.code))
  })
}

/** Of a request that is too long nobody knows who asks: a page. */
function readQuery({ raw }: FastifyRequest): Query {
  const url = raw.url ?? ''
  if (url.length > LONGEST_URL) throw oidcFailure('request_too_long')
  return parseQuery(queryOf(url))
}

/** As on the contract's consent page: whatever the app redirects to counts too (Chromium). */
const formActionFor = ({ protocol }: URL): string[] => (protocol === 'http:' ? ['https:', 'http:'] : ['https:'])

function sendResponse(request: FastifyRequest, reply: FastifyReply, response: AuthorizationResponse) {
  if (response.mode === 'query') return reply.headers(AREA_A_HEADERS).redirect(response.url, 303)
  const data = { action: response.url, host: new URL(response.url).host, fields: Object.entries(response.fields) }
  const options = { formAction: formActionFor(new URL(response.url)), scripts: true, query: '' }
  return sendPage(request, reply.code(200), 'oidc/form-post', data, options)
}

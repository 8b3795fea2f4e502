import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addSeconds } from '../../platform/lib/clock.ts'
import { contractAnswer } from '../../platform/lib/failure.ts'
import { standardNames } from '../../platform/lib/scope.ts'
import { noteFailure, seeOther } from '../../platform/lib/web/envelope.ts'
import { acceptForms, refuseForeignForms } from '../../platform/lib/web/forms.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { sendPage } from '../../platform/lib/web/page.ts'
import { parseQuery, type Query, queryOf } from '../../platform/lib/web/request-target.ts'
import { limitRate } from '../../platform/throttle/index.ts'
import { findSession, sessionCookie, signInFor } from '../account/index.ts'
import { consentPage, decideConsent, oauthFailure, type Parameters } from '../oauth/index.ts'
import {
  type AuthorizationResponse,
  checkStandardRequest,
  codeResponse,
  errorResponse,
  RedirectedFailure,
  type StandardRequest,
} from './authorize.ts'
import {
  type Continuation,
  continuationIn,
  SIGN_IN_COUNTS_S,
  signContinuation,
  verifyContinuation,
} from './continuation.ts'
import { sendStandardErrorPage } from './error-routes.ts'
import { oidcFailure } from './failures.ts'
import type { OidcDeps } from './id-token.ts'
import { nextAuthorizationStep, withSignIn } from './next-step.ts'
import { isPushed, newBrowserMark, openRequest, pushedRequestOf, useUpRequest } from './pushed-request.ts'
import { formOf, parseForm, REQUEST_URI_LIFETIME_S } from './wire.ts'

const AUTHORIZE = '/oauth2/authorize'
const CONSENT = '/oauth2/consent'
const LONGEST_URL = 8 * 1024
const FORM_LIMIT = 64 * 1024
/** In the signed field of a consent form: the pushed request that it belongs to. */
const PUSHED = 'pushed'

/** The authorization endpoint and the consent form (OIDC Core §3.1.2, RFC 9126 §4). */
export async function authorizeRoutes(app: FastifyInstance, { deps }: { deps: OidcDeps }): Promise<void> {
  const { config } = deps
  const cookie = sessionCookie(config)
  // A pushed request belongs to the browser that opens it: it may come back (Back, a reload), others may not.
  const browserCookie = ownCookie(config.PUBLIC_URL, {
    name: 'gatehouse_browser',
    path: AUTHORIZE,
    maxAgeS: REQUEST_URI_LIFETIME_S,
  })
  await acceptForms(app, FORM_LIMIT, { parser: parseForm })
  const tooMany = (retryAfterS: number) => oauthFailure('too_many_requests', { retryAfterS })
  // One limit for the pages of both dialects.
  const limit = { kind: 'authorization page', perMinute: config.AUTHORIZE_PER_MINUTE, refuse: tooMany }
  app.addHook('onRequest', limitRate(app, limit))
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof RedirectedFailure)) return sendStandardErrorPage(error, request, reply)
    noteRedirected(error, request)
    return sendResponse(request, reply, errorResponse(deps, error))
  })

  app.get('/authorize', { config: { answersHead: false } }, async (request, reply) => {
    const query = readQuery(request)
    const signed = continuationIn(query)
    if (signed !== undefined) return goOn(request, reply, verifyContinuation(deps, 'authorize', signed))
    if (isPushed(query)) {
      const mark = browserCookie.read(request) ?? newBrowserMark()
      browserCookie.set(reply, mark)
      return sendOn(reply, { signedInSince: null, ...(await openRequest(deps, query, mark)) })
    }
    return goOn(request, reply, { query: queryOf(request.raw.url ?? ''), signedInSince: null, pushed: null })
  })

  // A form of another site comes without our cookie. Nothing of it is decided here: the browser asks again by GET.
  app.post('/authorize', async (request, reply) => {
    const form = formOf(request.body)
    if (isPushed(form)) {
      const query = new URLSearchParams(pushedRequestOf(form))
      return seeOther(reply, `${AUTHORIZE}?${query}`)
    }
    const { query } = await checkStandardRequest(deps, form)
    return sendOn(reply, { query, signedInSince: null, pushed: null })
  })

  const sendOn = (reply: FastifyReply, continuation: Continuation) => {
    const signed = signContinuation(deps, 'authorize', continuation)
    return seeOther(reply, `${AUTHORIZE}?continue=${signed}`)
  }

  async function goOn(request: FastifyRequest, reply: FastifyReply, continuation: Continuation) {
    const authorization = await checkStandardRequest(deps, parseQuery(continuation.query))
    noteForLog(request, { appKey: authorization.app.app_key, isAppUnauthenticated: true })
    const session = await findSession(deps, cookie.read(request))
    const { signedInSince, pushed } = continuation
    const next = await nextAuthorizationStep(deps, authorization, session, signedInSince)
    if (next.step === 'sign-in') return sendToSignIn(reply, authorization, pushed)
    if (next.step === 'answer') {
      await useUpRequest(deps, pushed)
      return sendResponse(request, reply, codeResponse(deps, authorization.target, next.code))
    }
    const { scopes, query } = authorization
    const data = consentPage(deps, authorization, next.session, {
      scopes: standardNames(scopes),
      action: CONSENT,
      query: pushed ? `${query}&${PUSHED}=${pushed}` : query,
      returnTo: request.raw.url,
    })
    return sendPage(request, reply, 'oauth/consent', data, { leadsOutside: true })
  }

  function sendToSignIn(reply: FastifyReply, asked: StandardRequest, pushed: string | null) {
    const { query, loginHint, uiLocales, prompt, maxAge, acrValues } = asked
    const anew = prompt.filter((value) => value === 'login' || value === 'select_account').join(' ')
    // Only a provider is told: a sign-in here is one anew.
    const wishes = config.UPSTREAM_ISSUER && {
      prompt: anew,
      max_age: maxAge?.toString(),
      acr_values: acrValues?.join(' '),
    }
    const told = Object.entries(wishes || {}).filter((entry): entry is [string, string] => Boolean(entry[1]))
    const signed = signContinuation(deps, 'authorize', { query, signedInSince: deps.clock.now(), pushed })
    const signIn = signInFor(deps, asked.app, `${AUTHORIZE}?continue=${signed}`, {
      ...(loginHint === undefined ? {} : { login_hint: loginHint }),
      ...(uiLocales === undefined ? {} : { ui_locales: uiLocales }),
      ...Object.fromEntries(told),
    })
    return seeOther(reply, signIn)
  }

  const fromAnotherSite = () => oauthFailure('form_from_another_site')
  const onRequest = refuseForeignForms(config.PUBLIC_URL, fromAnotherSite)
  app.post('/consent', { onRequest }, async (request, reply) => {
    const { values } = formOf(request.body)
    const [form, decision] = [values.get('authorization_request'), values.get('decision')]
    if (form === undefined || decision === undefined) throw oauthFailure('form_incomplete')
    const session = await findSession(deps, cookie.read(request))
    const check = async (parameters: Parameters) => {
      noteForLog(request, { appKey: parameters.get('client_id') ?? '', isAppUnauthenticated: true })
      const checked = await checkStandardRequest(deps, parseQuery(new URLSearchParams([...parameters]).toString()))
      return session ? withSignIn(deps, checked, session) : checked
    }
    const acting = { ...deps, actor: actorOf(request, 'user') }
    const isStale = (shown: ShownForm) => isSignInTooOld(deps, shown)
    const decided = await decideConsent(acting, { session, form, decision, check, appParameter: 'client_id', isStale })
    if ('askAgain' in decided) {
      const { parameters, shownAt } = decided.askAgain
      const pushed = parameters.get(PUSHED) ?? null
      return sendOn(reply, { query: withConsent(parameters), signedInSince: shownAt, pushed })
    }
    await useUpRequest(deps, decided.parameters.get(PUSHED))
    const { target } = decided.request
    if (decided.code === undefined) throw new RedirectedFailure(oidcFailure('user_refused'), target)
    return sendResponse(request, reply, codeResponse(deps, target, decided.code))
  })
}

/** What a person decides, or an app asks for by `prompt=none`: no mistake of the app. */
const NO_MISTAKES = ['login_required', 'consent_required', 'user_refused']

/** A mistake that is answered by way of the browser is a refused request of this app like others. */
function noteRedirected({ failure, target }: RedirectedFailure, request: FastifyRequest): void {
  noteForLog(request, { appKey: target.appKey, isAppUnauthenticated: true })
  if (NO_MISTAKES.includes(failure.failure)) noteForLog(request, { detail: failure.failure })
  else noteFailure(contractAnswer(failure), request)
}

/** Nobody knows who asks by a request that is too long: it gets a page. */
function readQuery({ raw }: FastifyRequest): Query {
  const url = raw.url ?? ''
  if (url.length > LONGEST_URL) throw oidcFailure('request_too_long')
  return parseQuery(queryOf(url))
}

interface ShownForm {
  readonly shownAt: Date
  readonly parameters: Parameters
}

/** Whether a form that was left open wants a more recent sign-in than the one before it. */
function isSignInTooOld({ clock }: OidcDeps, { shownAt, parameters }: ShownForm): boolean {
  const prompt = parameters.get('prompt') ?? ''
  const wantsRecent = parameters.has('max_age') || /\b(login|select_account)\b/.test(prompt)
  return wantsRecent && addSeconds(shownAt, SIGN_IN_COUNTS_S) < clock.now()
}

/** The request of a form, so that the person is asked again even if the app is known by now. */
function withConsent(parameters: Parameters): string {
  const query = new URLSearchParams([...parameters].filter(([name]) => name !== PUSHED))
  const prompt = new Set([...(query.get('prompt') ?? '').split(' '), 'consent'])
  query.set('prompt', [...prompt].join(' ').trim())
  return query.toString()
}

function sendResponse(request: FastifyRequest, reply: FastifyReply, response: AuthorizationResponse) {
  if (response.mode === 'query') return seeOther(reply, response.url)
  const data = { action: response.url, host: new URL(response.url).host, fields: Object.entries(response.fields) }
  const options = { leadsOutside: true, scripts: true, query: '' }
  return sendPage(request, reply.code(200), 'oidc/form-post', data, options)
}

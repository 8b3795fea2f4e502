import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addSeconds } from '../../platform/lib/clock.ts'
import { contractAnswer } from '../../platform/lib/failure.ts'
import { standardNames } from '../../platform/lib/scope.ts'
import { noteFailure, seeOther } from '../../platform/lib/web/envelope.ts'
import { acceptForms, refuseForeignForms } from '../../platform/lib/web/forms.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { sendPage, textsFor } from '../../platform/lib/web/page.ts'
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
  continuationUrl,
  SIGN_IN_COUNTS_S,
  signContinuation,
  verifyContinuation,
} from './continuation.ts'
import { sendStandardErrorPage } from './error-routes.ts'
import { oidcFailure } from './failures.ts'
import type { OidcDeps } from './id-token.ts'
import { nextAuthorizationStep, withSignIn } from './next-step.ts'
import { closeRequest, isPushed, newBrowserMark, openRequest, pushedRequestOf } from './pushed-request.ts'
import { formOf, parseForm, REQUEST_URI_LIFETIME_S } from './wire.ts'

const AUTHORIZE = '/oauth2/authorize'
const CONSENT = '/oauth2/consent'
const LONGEST_URL = 8 * 1024
const FORM_LIMIT = 64 * 1024
/** Parameter in the signed field of a consent form: the pushed request that it belongs to. */
const PUSHED = 'pushed'

/** The authorization endpoint and the consent form (OIDC Core §3.1.2, RFC 9126 §4). */
export async function authorizeRoutes(app: FastifyInstance, { deps }: { deps: OidcDeps }): Promise<void> {
  const { config } = deps
  const cookie = sessionCookie(config)
  // A pushed request belongs to the browser that opens it first, which may open it again (Back, a reload).
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
    if (signed !== undefined) return proceed(request, reply, verifyContinuation(deps, 'authorize', signed))
    if (isPushed(query)) {
      const mark = browserCookie.read(request) ?? newBrowserMark()
      browserCookie.set(reply, mark)
      return redirectToSelf(reply, { signedInSince: null, ...(await openRequest(deps, query, mark)) })
    }
    return proceed(request, reply, { query: queryOf(request.raw.url ?? ''), signedInSince: null, pushed: null })
  })

  // A form posted from another site lacks our cookie, so the browser is redirected to ask again by GET.
  app.post('/authorize', async (request, reply) => {
    const form = formOf(request.body)
    if (isPushed(form)) {
      const query = new URLSearchParams(pushedRequestOf(form))
      return seeOther(reply, `${AUTHORIZE}?${query}`)
    }
    const { query } = await checkStandardRequest(deps, form)
    return redirectToSelf(reply, { query, signedInSince: null, pushed: null })
  })

  const redirectToSelf = (reply: FastifyReply, continuation: Continuation) => {
    const signed = signContinuation(deps, 'authorize', continuation)
    const asked = parseQuery(continuation.query).values.get('ui_locales')
    return seeOther(reply, continuationUrl(AUTHORIZE, signed, asked))
  }

  async function proceed(request: FastifyRequest, reply: FastifyReply, continuation: Continuation) {
    const authorization = await checkStandardRequest(deps, parseQuery(continuation.query))
    noteForLog(request, { appKey: authorization.app.app_key, isAppUnauthenticated: true })
    const session = await findSession(deps, cookie.read(request))
    const { signedInSince, pushed } = continuation
    const next = await nextAuthorizationStep(deps, authorization, session, signedInSince)
    if (next.step === 'sign-in') return sendToSignIn(reply, authorization, pushed)
    if (next.step === 'answer') {
      await closeRequest(deps, pushed)
      return sendResponse(request, reply, codeResponse(deps, authorization.target, next.code))
    }
    const { scopes, query } = authorization
    const data = consentPage(deps, authorization, next.session, {
      t: textsFor(request),
      scopes: standardNames(scopes),
      action: CONSENT,
      query: pushed ? `${query}&${PUSHED}=${pushed}` : query,
      returnTo: request.raw.url,
    })
    return sendPage(request, reply, 'oauth/consent', data, { leadsOutside: true })
  }

  function sendToSignIn(reply: FastifyReply, authorization: StandardRequest, pushed: string | null) {
    const { app: client, query, loginHint, uiLocales, prompt, maxAge, acrValues } = authorization
    const freshSignIn = prompt.filter((value) => value === 'login' || value === 'select_account').join(' ')
    // Only for a provider: a sign-in at our own page is always a fresh one.
    const forProvider = config.UPSTREAM_ISSUER && {
      prompt: freshSignIn,
      max_age: maxAge?.toString(),
      acr_values: acrValues?.join(' '),
    }
    const sent = Object.entries(forProvider || {}).filter((entry): entry is [string, string] => Boolean(entry[1]))
    const signed = signContinuation(deps, 'authorize', { query, signedInSince: deps.clock.now(), pushed })
    const signIn = signInFor(deps, client, `${AUTHORIZE}?continue=${signed}`, {
      ...(loginHint === undefined ? {} : { login_hint: loginHint }),
      ...(uiLocales === undefined ? {} : { ui_locales: uiLocales }),
      ...Object.fromEntries(sent),
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
    const whenBlocked = ({ target }: StandardRequest) => new RedirectedFailure(oidcFailure('user_blocked'), target)
    const rules = { check, appParameter: 'client_id', whenBlocked, isStale }
    const decided = await decideConsent(acting, { session, form, decision, ...rules })
    if ('askAgain' in decided) {
      const { parameters, shownAt } = decided.askAgain
      const pushed = parameters.get(PUSHED) ?? null
      return redirectToSelf(reply, { query: withPromptConsent(parameters), signedInSince: shownAt, pushed })
    }
    await closeRequest(deps, decided.parameters.get(PUSHED))
    const { target } = decided.request
    if (decided.code === undefined) throw new RedirectedFailure(oidcFailure('user_refused'), target)
    return sendResponse(request, reply, codeResponse(deps, target, decided.code))
  })
}

/** Decisions of the person, or expected answers to `prompt=none`: not mistakes of the app. */
const NOT_MISTAKES = ['login_required', 'consent_required', 'user_refused']

/** A mistake that is reported through the browser is recorded as a refused request of the app, like others. */
function noteRedirected({ failure, target }: RedirectedFailure, request: FastifyRequest): void {
  noteForLog(request, { appKey: target.appKey, isAppUnauthenticated: true })
  if (NOT_MISTAKES.includes(failure.failure)) noteForLog(request, { detail: failure.failure })
  else noteFailure(contractAnswer(failure), request)
}

/** A request that is too long is not read, so its client is unknown and it gets an error page. */
function readQuery({ raw }: FastifyRequest): Query {
  const url = raw.url ?? ''
  if (url.length > LONGEST_URL) throw oidcFailure('request_too_long')
  return parseQuery(queryOf(url))
}

interface ShownForm {
  readonly shownAt: Date
  readonly parameters: Parameters
}

/** Whether a form was left open so long that the sign-in before it no longer satisfies the request. */
function isSignInTooOld({ clock }: OidcDeps, { shownAt, parameters }: ShownForm): boolean {
  const prompt = parameters.get('prompt') ?? ''
  const wantsRecent = parameters.has('max_age') || /\b(login|select_account)\b/.test(prompt)
  return wantsRecent && addSeconds(shownAt, SIGN_IN_COUNTS_S) < clock.now()
}

/** Asks again even if consent is remembered by now, in the language that the person may have chosen on the form's page. */
function withPromptConsent(parameters: Parameters): string {
  const query = new URLSearchParams([...parameters].filter(([name]) => name !== PUSHED && name !== 'ui_locales'))
  const prompt = new Set([...(query.get('prompt') ?? '').split(' '), 'consent'])
  query.set('prompt', [...prompt].join(' ').trim())
  return query.toString()
}

function sendResponse(request: FastifyRequest, reply: FastifyReply, response: AuthorizationResponse) {
  if (response.mode === 'query') return seeOther(reply, response.url)
  const data = { action: response.url, host: new URL(response.url).host, fields: Object.entries(response.fields) }
  return sendPage(request, reply.code(200), 'oidc/form-post', data, { leadsOutside: true, scripts: true })
}

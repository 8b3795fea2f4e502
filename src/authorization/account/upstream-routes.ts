import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { secondsUntil } from '../../platform/lib/clock.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { acceptForms } from '../../platform/lib/web/forms.ts'
import { answerStandard, sendStandardFailure, standardFailureOf } from '../../platform/lib/web/oauth-response.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { localeOfRequest, sendPage } from '../../platform/lib/web/page.ts'
import { queryOf } from '../../platform/lib/web/request-target.ts'
import { invalidRequest, tooManyRequests } from '../../platform/lib/web/rescode.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'
import { limitRate, networkOf, preparePages, SignInRefused } from '../../platform/throttle/index.ts'
import {
  beginFlow,
  CALLBACK,
  LONGEST_LOGOUT_TOKEN,
  openFlow,
  type Provider,
  SIGNED_OUT,
  UpstreamFailure,
} from '../upstream/index.ts'
import { PASSWORD_PATH } from './password.ts'
import { findSession, sessionCookie } from './session.ts'
import { browserMark, carriedOf, readAppName, signInBrowser } from './sign-in-guard.ts'
import { endFromUpstream, signInFromUpstream } from './upstream-sign-in.ts'
import { callbackQuery, signInQuery, upstreamQuery } from './wire.ts'

const SIGN_IN = '/sign-in'
/** Pages that the provider replaces. */
const REPLACED = [PASSWORD_PATH, '/sign-in/*', '/account/security/sign-in', '/account/security/*']
const RETRY_S = 10

interface ProviderDeps extends Deps {
  readonly upstream: Provider
}

/** Sign-in at the platform's OpenID provider, instead of our own pages (UPSTREAM_ISSUER). */
export const upstreamPages: FastifyPluginAsync<{ deps: ProviderDeps }> = async (app, { deps }) => {
  const { config, upstream } = deps
  const cookie = sessionCookie(config)
  const browser = signInBrowser(deps)
  const mark = browserMark(deps)
  await preparePages(app, config)

  const limit = { kind: 'sign-in at the provider', perMinute: config.AUTHORIZE_PER_MINUTE, refuse: tooManyRequests }
  app.get(SIGN_IN, { onRequest: limitRate(app, limit) }, async (request, reply) => {
    const { login_hint, confirm } = signInQuery.parse(request.query)
    const { prompt, max_age, acr_values } = upstreamQuery.parse(request.query)
    const { returnTo: goOn, app: signedApp } = carriedOf(deps, request.query)
    // prompt=login and max_age=0 mean the same (OIDC Core §3.1.2.1); with max_age the provider reports auth_time.
    const newPrompt = confirm ? 'login' : (prompt ?? (max_age === 0 ? 'login' : undefined))
    const maxAge = newPrompt === undefined ? (max_age ?? null) : 0
    const proof = beginFlow(deps, 'sign-in', mark.keep(request, reply), { goOn, app: signedApp, maxAge })
    if (!proof) throw invalidRequest(localized('sign-in-too-long'))
    try {
      const wishes = { prompt: newPrompt, max_age: maxAge?.toString(), acr_values, login_hint }
      return seeOther(reply, await upstream.signInUrl(proof, { ...wishes, ui_locales: localeOfRequest(request) }))
    } catch (error) {
      return refuse(request, reply, error, request.url)
    }
  })

  // A sign-in form opened before the provider was configured.
  app.post(SIGN_IN, (request, reply) => {
    const goOn = localPath(signInQuery.parse(request.body).return_to, config.PUBLIC_URL)
    return seeOther(reply, `${SIGN_IN}?${new URLSearchParams({ return_to: goOn })}`)
  })

  const ofCallback = { onRequest: limitRate(app, { ...limit, kind: 'answer of the provider' }) }
  app.get(CALLBACK, { config: { answersHead: false }, ...ofCallback }, async (request, reply) => {
    const { state, code, error } = callbackQuery.parse(request.query)
    // A language link on the page below.
    if ([state, code, error].every((value) => value === undefined))
      return seeOther(reply, `${SIGN_IN}?${queryOf(request.url)}`)
    const opened = openFlow(deps, 'sign-in', mark.read(request), state)
    if (!opened) return refuse(request, reply, new UpstreamFailure('not_begun', 'no such sign-in of this browser'), '')
    const { flow, proof, hash, expiresAt } = opened
    const again = new URLSearchParams({
      return_to: flow.goOn,
      ...(flow.app ? { app: flow.app } : {}),
      ...(flow.maxAge === 0 ? { prompt: 'login' } : flow.maxAge === null ? {} : { max_age: String(flow.maxAge) }),
    })
    try {
      const proven = await upstream.prove(queryOf(request.raw.url ?? ''), proof, flow)
      const acting = { ...deps, actor: actorOf(request, 'user') }
      const arrival = { ...browser.read(request), hash, expiresAt }
      cookie.set(reply, await signInFromUpstream(acting, proven, arrival))
      return seeOther(reply, flow.goOn)
    } catch (error) {
      return refuse(request, reply, error, `${SIGN_IN}?${again}`, readAppName(deps.keys, flow.app, flow.goOn))
    }
  })

  app.get(SIGNED_OUT, async (request, reply) => {
    const opened = openFlow(deps, 'sign-out', mark.read(request), callbackQuery.parse(request.query).state)
    return seeOther(reply, opened?.flow.goOn ?? '/')
  })

  /** `again` is the link for trying again; empty if the starting point is unknown. */
  function refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown, again: string, appName = '') {
    const isRefused = thrown instanceof SignInRefused
    if (isRefused && thrown.retryAt) throw tooManyRequests(secondsUntil(thrown.retryAt, deps.clock.now()))
    const error = isRefused ? new UpstreamFailure('not_begun', 'the person was erased meanwhile') : thrown
    if (!(error instanceof UpstreamFailure)) throw error
    const { reason } = error
    note(request, error, {
      kind: 'provider',
      subject: 'OpenID provider',
      what: 'a sign-in at the OpenID provider has failed',
    })
    if (reason === 'away') reply.header('Retry-After', String(RETRY_S))
    const shown = { reason, again, appName, host: upstream.host, requestId: request.id }
    const query = queryOf(again)
    return sendPage(request, reply.code(reason === 'away' ? 503 : 403), 'account/provider-failed', shown, { query })
  }

  const elsewhere = async (request: FastifyRequest, reply: FastifyReply) => {
    const signedIn = (await findSession(deps, cookie.read(request))) !== null
    return sendPage(request, reply, 'account/provider', { host: upstream.host, signedIn }, { query: '' })
  }
  for (const path of REPLACED) {
    app.get(path, (request, reply) => elsewhere(request, reply))
    app.post(path, (request, reply) => elsewhere(request, reply.code(403)))
  }
}

/** Registered at the provider as backchannel_logout_uri. */
const LOGOUT = '/sign-out/backchannel-logout'
const FORM_LIMIT = 16 * 1024
/** Refused tokens per network. Valid ones are unlimited: many sessions may end at once, from a shared network. */
const REFUSED = { kind: 'logout token refused', most: 60, windowS: 60 }

const form = z.object({ logout_token: z.string().min(1).max(LONGEST_LOGOUT_TOKEN) })

/** Called by the provider when a session there has ended (OpenID Connect Back-Channel Logout 1.0). */
export const upstreamLogout: FastifyPluginAsync<{ deps: ProviderDeps }> = async (app, { deps }) => {
  await acceptForms(app, FORM_LIMIT)
  app.setErrorHandler((error, request, reply) => sendStandardFailure(reply, standardFailureOf(error, request)))

  app.post(LOGOUT, async (request, reply) => {
    try {
      const parsed = form.safeParse(request.body)
      if (!parsed.success) throw new UpstreamFailure('untrusted', 'there is none')
      await endFromUpstream(deps, await deps.upstream.endedThere(parsed.data.logout_token))
      return answerStandard(reply, 200, {})
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      const isAway = error.reason === 'away'
      if (isAway) reply.header('Retry-After', String(RETRY_S))
      else refuseTooMany(request)
      note(request, error, { kind: 'logout token', subject: 'logout token', what: 'a logout token was refused' })
      const description = isAway ? 'the keys of the provider cannot be read' : 'the logout token is not accepted'
      const problem = { error: isAway ? 'temporarily_unavailable' : 'invalid_request', error_description: description }
      return answerStandard(reply, isAway ? 503 : 400, problem)
    }
  })

  function refuseTooMany(request: FastifyRequest): void {
    const { uses, endsInMs } = app.rateLimiter.count(REFUSED, networkOf(request.ip))
    if (uses > REFUSED.most) throw tooManyRequests(Math.ceil(endsInMs / 1000))
  }
}

/** Logs a failure of the provider; repetitions within a minute are only counted. */
function note(
  request: FastifyRequest,
  { reason, message }: UpstreamFailure,
  { kind, subject, what }: { readonly kind: string; readonly subject: string; readonly what: string },
): void {
  noteForLog(request, { detail: `${subject}: ${message}` })
  const line = { level: 'warn', kind: `${kind} ${reason}`, message: what } as const
  request.server.sampledLog.write({ ...line, fields: () => ({ reason, detail: message }) }, request.log)
}

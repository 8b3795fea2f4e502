import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { answerSuccess, failureAnswerOf, seeOther } from '../../platform/lib/web/envelope.ts'
import { flushRepliesPerTick } from '../../platform/lib/web/flush-replies.ts'
import { acceptForms, refuseForeignForms } from '../../platform/lib/web/forms.ts'
import { contractErrorHandler } from '../../platform/lib/web/misplaced.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { sendErrorPage, sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { acceptAnyBodyUnread, hasBody } from '../../platform/lib/web/read-body.ts'
import { limitRate } from '../../platform/throttle/index.ts'
import { findSession, sessionCookie, signInFor } from '../account/index.ts'
import { type CallingApp, mayUse } from '../registry/index.ts'
import { checkAuthorizationRequest, consentQuery } from './authorize.ts'
import { decideConsent } from './consent.ts'
import { consentPage } from './consent-form.ts'
import { oauthFailure } from './failures.ts'
import { withResponseParameters } from './redirect-uri.ts'
import { answerTokenCall, checkAuthorization } from './requests.ts'
import type { TokenDeps } from './token-cap.ts'
import type { Parameters } from './wire.ts'

const AUTHORIZE_PATH = '/oauth/v2/authorize'
const CONSENT_PATH = '/oauth/v2/consent'
const consentForm = z.object({ authorization_request: z.string(), decision: z.string() })

/** A1: the authorization page and its form. A browser gets failures as a page, a program as the envelope. */
export async function authorizationRoutes(app: FastifyInstance, { deps }: { deps: Deps }): Promise<void> {
  const { config } = deps
  const cookie = sessionCookie(config)
  const native = config.ENVELOPE_HTTP_STATUS === 'native'
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), native))
  await acceptForms(app, 64 * 1024)
  const tooMany = (retryAfterS: number) => oauthFailure('too_many_requests', { retryAfterS })
  const limit = { kind: 'authorization page', perMinute: config.AUTHORIZE_PER_MINUTE, refuse: tooMany }
  app.addHook('onRequest', limitRate(app, limit))

  app.get('/authorize', { config: { answersHead: false } }, async (request, reply) => {
    const authorization = await checkAuthorization(deps, request.raw.url ?? '')
    noteForLog(request, { appKey: authorization.app.app_key, isAppUnauthenticated: true })
    const session = await findSession(deps, cookie.read(request))
    if (!session) return seeOther(reply, signInFor(deps, authorization.app, request.raw.url ?? '/'))
    if (session.status !== 'active') throw oauthFailure('user_blocked')
    if (!mayUse(authorization.app, session)) throw oauthFailure('app_in_development')
    const data = consentPage(deps, authorization, session, {
      t: textsFor(request),
      scopes: authorization.scopes,
      action: CONSENT_PATH,
      query: consentQuery(authorization),
      returnTo: request.raw.url,
    })
    return sendPage(request, reply, 'oauth/consent', data, { leadsOutside: true })
  })

  const fromAnotherSite = () => oauthFailure('form_from_another_site')
  app.post(
    '/consent',
    { onRequest: refuseForeignForms(config.PUBLIC_URL, fromAnotherSite) },
    async (request, reply) => {
      const sent = consentForm.safeParse(request.body).data
      if (!sent) throw oauthFailure('form_incomplete')
      const { authorization_request: form, decision } = sent
      const session = await findSession(deps, cookie.read(request))
      const check = (parameters: Parameters) => {
        noteForLog(request, { appKey: parameters.get('app_key') ?? '', isAppUnauthenticated: true })
        return checkAuthorizationRequest(deps, parameters)
      }
      const acting = { ...deps, actor: actorOf(request, 'user') }
      const decided = await decideConsent(acting, { session, form, decision, check, appParameter: 'app_key' })
      if ('askAgain' in decided) {
        const query = new URLSearchParams([...decided.askAgain.parameters])
        return seeOther(reply, `${AUTHORIZE_PATH}?${query}`)
      }
      const { redirectUri, state } = decided.request
      // On refusal `state` alone (REFERENCE "Endpoints of area A").
      const answer = decided.code === undefined ? { state } : { code: decided.code, state }
      return seeOther(reply, withResponseParameters(redirectUri, answer))
    },
  )
}

/** A2 and A3. */
export async function tokenRoutes(app: FastifyInstance, { deps }: { deps: TokenDeps }): Promise<void> {
  app.setErrorHandler(contractErrorHandler(deps.config.ENVELOPE_HTTP_STATUS === 'native'))
  acceptAnyBodyUnread(app)
  flushRepliesPerTick(app)

  app.post('/api/token', async (request, reply) => {
    const call = {
      url: request.raw.url ?? '',
      authorization: request.headers.authorization,
      address: request.ip,
      hasBody: hasBody(request),
    }
    const actorFor = ({ app_key }: CallingApp) => {
      noteForLog(request, { appKey: app_key })
      return actorOf(request, 'app', app_key)
    }
    return answerSuccess(request, reply, await answerTokenCall(deps, call, actorFor))
  })
}

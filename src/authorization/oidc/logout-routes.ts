import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { NamedFailure } from '../../platform/lib/failure.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { acceptForms, refuseForeignForms } from '../../platform/lib/web/forms.ts'
import { sendPage } from '../../platform/lib/web/page.ts'
import { parseQuery, type Query, queryOf } from '../../platform/lib/web/request-target.ts'
import { limitPages } from '../../platform/throttle/index.ts'
import { findSession, sessionCookie, signOut } from '../account/index.ts'
import { oauthFailure } from '../oauth/index.ts'
import type { UpstreamDeps } from '../upstream/index.ts'
import { continuationIn, continuationUrl, signContinuation, verifyContinuation } from './continuation.ts'
import { sendStandardErrorPage } from './error-routes.ts'
import type { OidcDeps } from './id-token.ts'
import { checkLogout } from './logout.ts'
import { formOf, parseForm } from './wire.ts'

const LOGOUT = '/oauth2/logout'
const FORM_LIMIT = 16 * 1024

/** Sign-out at the request of a client. Nobody is signed out without being asked. */
export async function logoutRoutes(app: FastifyInstance, { deps }: { deps: OidcDeps & UpstreamDeps }): Promise<void> {
  const { config } = deps
  const cookie = sessionCookie(config)
  await acceptForms(app, FORM_LIMIT, { parser: parseForm })
  app.addHook('onRequest', limitPages(app, config))
  app.setErrorHandler((error, request, reply) => sendStandardErrorPage(error, request, reply))
  const sign = (query: string) => signContinuation(deps, 'logout', { query, signedInSince: null, pushed: null })
  const verify = (signed: string): Query => parseQuery(verifyContinuation(deps, 'logout', signed).query)

  app.get('/logout', async (request, reply) => {
    const given = parseQuery(queryOf(request.raw.url ?? ''))
    const signed = continuationIn(given)
    const { app: client, next, query } = await checkLogout(deps, signed === undefined ? given : verify(signed))
    const session = await findSession(deps, cookie.read(request))
    if (!session) return leave(request, reply, next, false)
    // Nobody has reviewed the name of an app in development.
    const name = client?.stage === 'live' ? client.name : undefined
    const data = { app: name, user: session.name, action: `${LOGOUT}/confirm`, form: sign(query) }
    return sendPage(request, reply, 'oidc/sign-out', data, { leadsOutside: true })
  })

  // A form posted from another site lacks our cookie, so the browser is redirected to ask again by GET.
  app.post('/logout', async (request, reply) => {
    const form = formOf(request.body)
    const { query } = await checkLogout(deps, form)
    return seeOther(reply, continuationUrl(LOGOUT, sign(query), form.values.get('ui_locales')))
  })

  const onRequest = refuseForeignForms(config.PUBLIC_URL, () => oauthFailure('form_from_another_site'))
  app.post('/logout/confirm', { onRequest }, async (request, reply) => {
    const { values } = formOf(request.body)
    const [signed, decision] = [values.get('sign_out_request'), values.get('decision')]
    if (signed === undefined || decision === undefined) throw oauthFailure('form_incomplete')
    const query = verify(signed)
    // The person is signed out even if the browser may no longer be sent to the app.
    const { next } = await checkLogout(deps, query).catch((error: unknown) => {
      if (decision === 'sign-out' && error instanceof NamedFailure) return { next: undefined }
      throw error
    })
    if (decision !== 'sign-out') return leave(request, reply, next, true)
    const to = await signOut(deps, request, reply, next ?? LOGOUT)
    return leave(request, reply, to === LOGOUT ? undefined : to, false)
  })
}

/** Back to the client, which has ended its own session whatever was decided here; without one, a page says what happened. */
const leave = (request: FastifyRequest, reply: FastifyReply, next: string | undefined, stayed: boolean) =>
  next === undefined ? sendPage(request, reply, 'oidc/signed-out', { stayed }) : seeOther(reply, next)

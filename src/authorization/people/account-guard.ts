import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { failureAnswerOf, seeOther } from '../../platform/lib/web/envelope.ts'
import { acceptForms, refuseForeignForms } from '../../platform/lib/web/forms.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { sendErrorPage, sendPage } from '../../platform/lib/web/page.ts'
import { refererPath } from '../../platform/lib/web/return-to.ts'
import { countOwnChange, limitPages } from '../../platform/throttle/index.ts'
import { findSession, type SignedIn, sessionCookie } from '../account/index.ts'
import { isDeveloper } from '../teams/index.ts'

const FORM_LIMIT = 16 * 1024

/** A request of somebody who is signed in, and how it is answered. */
export interface PersonRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly person: SignedIn
  /** In the name of the person, for the audit log. */
  readonly deps: Deps
  /** Sends a page with the navigation of its banner, in which `section` is the current link. */
  page(section: string, view: string, data: object): Promise<FastifyReply>
  /** Answers a form: the browser opens that page of ours. */
  goTo(path: string): FastifyReply
}

type Handler = (given: PersonRequest) => Promise<FastifyReply>

/**
 * Makes a plugin one of pages of the account: forms of our own pages alone, failures as pages, and handlers that run for
 * whoever is signed in. Others are asked to sign in, and come back to the page of the form, or to `page`.
 */
export async function accountGuard(
  app: FastifyInstance,
  deps: Deps,
  { limit = FORM_LIMIT, holder }: { readonly limit?: number; readonly holder?: string } = {},
): Promise<(page: string, handler: Handler) => Route> {
  const { config } = deps
  const cookie = sessionCookie(config)
  await acceptForms(app, limit, holder === undefined ? {} : { holder })
  app.addHook('onRequest', limitPages(app, config))
  app.addHook('onRequest', refuseForeignForms(config.PUBLIC_URL))
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), true))

  const provider = config.UPSTREAM_ISSUER === undefined ? null : new URL(config.UPSTREAM_ISSUER).host
  const formsEndOutside = provider !== null // at the provider, to sign in or out
  return (page, handler) => async (request, reply) => {
    const goTo = (path: string) => seeOther(reply, path)
    const session = cookie.read(request)
    const person = await findSession(deps, session)
    if (!person) {
      const isGet = request.method === 'GET'
      const back = isGet ? request.url : (refererPath(request, config.PUBLIC_URL) ?? page)
      const query = new URLSearchParams({ return_to: back })
      if (session !== undefined || !isGet) query.set('ended', '1')
      return goTo(`/sign-in?${query}`)
    }
    if (request.method === 'POST') await countOwnChange(deps, person)
    const shown = { name: person.name, avatarUrl: person.avatarUrl }
    return handler({
      request,
      reply,
      person,
      deps: { ...deps, actor: actorOf(request, 'user') },
      page: async (section, view, data) => {
        const dev = config.DEVELOPERS !== 'off' && (await isDeveloper(deps, person))
        const all = { ...data, section, person: shown, provider, isDeveloper: dev }
        return sendPage(request, reply, view, all, { scripts: true, formsEndOutside })
      },
      goTo,
    })
  }
}

type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

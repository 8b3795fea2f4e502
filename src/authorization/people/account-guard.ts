import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { FORM_OWNER } from '../../platform/lib/web/form-owner.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { refererPath } from '../../platform/lib/web/return-to.ts'
import { countOwnChange, preparePages } from '../../platform/throttle/index.ts'
import { findSession, type SignedIn, sessionCookie } from '../account/index.ts'
import { isDeveloper } from '../teams/index.ts'

/** A request of somebody who is signed in, and how it is answered. */
export interface PersonRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly person: SignedIn
  readonly t: Translate
  /** In the name of the person, for the audit log. */
  readonly deps: Deps
  /** Sends a page with the navigation of its banner, in which `section` is the current link. */
  page(section: string, view: string, data: object): Promise<FastifyReply>
  goTo(path: string): FastifyReply
}

/** `work` returns the answer, or where the browser goes on: a path, or what follows the path of its page, as `?done=saved`. */
type Work<Given> = (given: Given) => Promise<FastifyReply | string>
type Handler<Given> = (given: Given) => Promise<FastifyReply>
type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

interface Pages<Given> {
  get(path: string, work: Work<Given>, options?: RouteShorthandOptions): void
  /** A form of `page`: opened directly, as by a language link of the page that answers it, its address leads there. */
  form(path: string, page: string, work: Work<Given>): void
}

/** Pages and forms of those whom `guard` lets in. */
export function pagesOf<Given extends PersonRequest>(
  app: FastifyInstance,
  guard: (handler: Handler<Given>, page: string) => Route,
): Pages<Given> {
  const route = (page: string, work: Work<Given>): Route =>
    guard(async (given) => {
      const next = await work(given)
      if (typeof next !== 'string') return next
      return given.goTo(next.startsWith('/') ? next : filled(page, given.request) + next)
    }, page)
  return {
    get(path, work, options = {}) {
      app.get(path, options, route(path, work))
    },
    form(path, page, work) {
      if (path !== page)
        app.get(
          path,
          route(page, async () => ''),
        )
      app.post(path, route(page, work))
    },
  }
}

/** The path with what the address of this request has for its parameters. */
const filled = (path: string, { params }: FastifyRequest): string =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent((params as Record<string, string>)[name] ?? ''))

/**
 * Makes a plugin one of pages of the account: forms of our own pages alone, failures as pages, and handlers that run for
 * whoever is signed in. Others are asked to sign in, and come back to the page of the form.
 */
export async function accountPages(
  app: FastifyInstance,
  deps: Deps,
  limits: { readonly limit?: number; readonly holder?: string } = {},
) {
  const { config } = deps
  const cookie = sessionCookie(config)
  await preparePages(app, config, limits)

  const provider = config.UPSTREAM_ISSUER === undefined ? null : new URL(config.UPSTREAM_ISSUER).host
  const leadsOutside = provider !== null // at the provider, to sign in or out
  const forPerson =
    (handler: Handler<PersonRequest>, page: string): Route =>
    async (request, reply) => {
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
      FORM_OWNER.bindFormsTo(deps.keys, request, subjectOf(person))
      if (request.method === 'POST') await countOwnChange(deps, person)
      const shown = { name: person.name, avatarUrl: person.avatarUrl }
      return handler({
        request,
        reply,
        person,
        t: textsFor(request),
        deps: { ...deps, actor: actorOf(request, 'user') },
        page: async (section, view, data) => {
          const dev = config.DEVELOPERS !== 'off' && (await isDeveloper(deps, person))
          const all = { ...data, section, person: shown, provider, isDeveloper: dev }
          return sendPage(request, reply, view, all, { scripts: true, leadsOutside })
        },
        goTo,
      })
    }
  return { ...pagesOf(app, forPerson), forPerson }
}

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { FORM_OWNER } from '../../platform/lib/web/form-owner.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { pageOf, signInAddress } from '../../platform/lib/web/return-to.ts'
import { countOwnChange, preparePages } from '../../platform/throttle/index.ts'
import { findSession, type SignedIn, sessionCookie } from '../account/index.ts'
import { isDeveloper } from '../teams/index.ts'

/** A request of a signed-in person, with helpers for answering it. */
export interface PersonRequest {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly person: SignedIn
  readonly t: Translate
  /** With the person as the actor, for the audit log. */
  readonly deps: Deps
  /** Sends a page with the account navigation, in which `section` is the current link. */
  page(section: string, view: string, data: object): Promise<FastifyReply>
  goTo(path: string): FastifyReply
}

/** Returns the reply, or a redirect: an absolute path, or a suffix such as `?done=saved` to the path of its page. */
type Work<Context> = (context: Context) => Promise<FastifyReply | string>
type Handler<Context> = (context: Context) => Promise<FastifyReply>
type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Registers pages and forms behind `guard`. */
export function pagesOf<Context extends PersonRequest>(
  app: FastifyInstance,
  guard: (handler: Handler<Context>, page: string) => Route,
) {
  const route = (page: string, work: Work<Context>): Route =>
    guard(async (context) => {
      const next = await work(context)
      if (typeof next !== 'string') return next
      return context.goTo(next.startsWith('/') ? next : pathOf(page, context.request) + next)
    }, page)
  return {
    get(path: string, work: Work<Context>, options: RouteShorthandOptions = {}) {
      app.get(path, options, route(path, work))
    },
    /** A form of `page`. A GET of its path, as from a language link on the page that answers it, redirects to `page`. */
    form(path: string, page: string, work: Work<Context>) {
      const toPage = route(page, async () => '')
      if (path !== page) app.get(path, toPage)
      app.post(path, route(page, work))
    },
  }
}

/** The path of a page, with its parameters replaced by those of the request. */
export const pathOf = (page: string, { params }: FastifyRequest): string =>
  page.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent((params as Record<string, string>)[name] ?? ''))

/** Prepares a plugin for pages of a signed-in person. Others are redirected to the sign-in page, which leads back. */
export async function accountPages(
  app: FastifyInstance,
  deps: Deps,
  limits: { readonly limit?: number; readonly holder?: string } = {},
) {
  const { config } = deps
  const cookie = sessionCookie(config)
  await preparePages(app, config, limits)

  const provider = config.UPSTREAM_ISSUER === undefined ? null : new URL(config.UPSTREAM_ISSUER).host
  const leadsOutside = provider !== null // to the provider, to sign in or out
  const forPerson =
    (handler: Handler<PersonRequest>, page: string): Route =>
    async (request, reply) => {
      const goTo = (path: string) => seeOther(reply, path)
      const session = cookie.read(request)
      const person = await findSession(deps, session)
      if (!person) {
        const back = pageOf(request, config.PUBLIC_URL, page)
        return goTo(signInAddress(request, { signIn: '/sign-in', page: back, session }))
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
          const banner = {
            ...{ section, person: shown, provider },
            isDeveloper: config.DEVELOPERS !== 'off' && (await isDeveloper(deps.db, person)),
          }
          return sendPage(request, reply, view, { ...data, ...banner }, { scripts: true, leadsOutside })
        },
        goTo,
      })
    }
  return { ...pagesOf(app, forPerson), forPerson }
}

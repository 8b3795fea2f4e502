import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { textsFor } from '../../platform/lib/web/page.ts'
import { noSuchPath, RescodeError } from '../../platform/lib/web/rescode.ts'
import { STEP_UP } from '../account/index.ts'
import { accountGuard, type PersonRequest } from '../people/index.ts'
import {
  type AppAccess,
  findAppAccess,
  findMembership,
  isDeveloper,
  type Membership,
  TeamRefusal,
} from '../teams/index.ts'

export const HOME = '/developer'

type Handler<Given> = (given: Given) => Promise<FastifyReply>
type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** A request of a member of the team that the path names. */
export interface TeamRequest extends PersonRequest {
  readonly team: Membership
}

/** A request of a member of the team whose app the path names. */
export interface AppRequest extends PersonRequest {
  readonly app: AppAccess
}

/** An owner does that; the developers of the same team are told so. */
const ownersOnly = (): RescodeError => new RescodeError(20003, { detail: 'not an owner' })

const param = (request: FastifyRequest, name: string): string =>
  (request.params as Readonly<Record<string, string>>)[name] ?? ''

/**
 * Who may open the pages of developers. Whoever is blocked may not: they would change apps that others use. Whoever has not accepted the terms is asked to first; a team that the person is no
 * member of does not exist for them.
 */
export async function developerGuard(app: FastifyInstance, deps: Deps, limits: { readonly limit?: number } = {}) {
  const forSignedIn = await accountGuard(app, deps, limits)
  const forPerson = (page: string, handler: Handler<PersonRequest>): Route =>
    forSignedIn(page, async (given) => {
      if (given.person.status === 'blocked') throw new RescodeError(20016)
      return handler(given)
    })
  const forDeveloper = (handler: Handler<PersonRequest>): Route =>
    forPerson(HOME, async (given) => {
      if (!(await isDeveloper(deps, given.person))) return given.goTo(HOME)
      return handler(given)
    })
  const forTeam = (role: MemberRole, handler: Handler<TeamRequest>): Route =>
    forDeveloper(async (given) => {
      const team = await findMembership(deps, given.person, param(given.request, 'team_id'))
      if (!team) throw noSuchPath()
      if (role === 'owner' && team.role !== 'owner') throw ownersOnly()
      return handler({ ...given, team })
    })
  const forApp = (role: MemberRole, handler: Handler<AppRequest>): Route =>
    forDeveloper(async (given) => {
      const found = await findAppAccess(deps, given.person, param(given.request, 'app_key'))
      if (!found) throw noSuchPath()
      if (role === 'owner' && found.role !== 'owner') throw ownersOnly()
      return handler({ ...given, app: found })
    })
  return { forPerson, forDeveloper, forTeam, forApp }
}

export const translatorOf = ({ request }: Pick<PersonRequest, 'request'>): Translate => textsFor(request)

const STATUS: Partial<Readonly<Record<TeamRefusal['reason'], number>>> = {
  not_owner: 403,
  invited_only: 403,
  link_invalid: 404,
  link_expired: 410,
}

/** Does something, or shows the page with why it was not done. */
export async function orRefused(
  given: PersonRequest,
  work: () => Promise<FastifyReply>,
  show: (alert: string) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TeamRefusal)) throw error
    noteForLog(given.request, { detail: error.reason })
    given.reply.code(STATUS[error.reason] ?? 409)
    return show(translatorOf(given)(`developer.refusal.${error.reason}`))
  }
}

interface Sensitive {
  /** The page of the form, to which others come back once they have shown who they are. */
  readonly path: string
  readonly show: (alert: string) => Promise<FastifyReply>
  readonly work: () => Promise<FastifyReply>
}

/** Does it for somebody who has shown just now who they are, with a second factor; others do so first. */
export async function sensitive(deps: Deps, given: AppRequest, { path, show, work }: Sensitive): Promise<FastifyReply> {
  const factor = await STEP_UP.secondFactor(deps, given.person)
  if (factor === 'none') {
    given.reply.code(403)
    return show(translatorOf(given)('developer.secret.needs_factor'))
  }
  if (factor === 'not-used' || !(await STEP_UP.isFresh(deps, given.person))) {
    return STEP_UP.ask(given.reply, path, true)
  }
  return orRefused(given, work, show)
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { noSuchPath, RescodeError } from '../../platform/lib/web/rescode.ts'
import { STEP_UP } from '../account/index.ts'
import { accountPages, type PersonRequest, pagesOf } from '../people/index.ts'
import {
  type AppAccess,
  findAppAccess,
  findMembership,
  isDeveloper,
  type Membership,
  TeamRefusal,
} from '../teams/index.ts'

/** Where developers begin, and the pages of a team and of an app. */
export const HOME = '/developer'
export const TEAM = `${HOME}/teams/:team_id`
export const APP = `${HOME}/apps/:app_key`

type Handler<Given> = (given: Given) => Promise<FastifyReply>

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

/** What was typed into a field of the form, to be shown again. */
export const typedText = ({ request }: PersonRequest, field: string): string => {
  const typed: unknown = Object(request.body)[field]
  return typeof typed === 'string' ? typed : ''
}

/**
 * Who may open the pages of developers. Whoever is blocked may not: they would change apps that others use. Whoever has not
 * accepted the terms is asked to first; a team that the person is no member of does not exist for them.
 */
export async function developerPages(app: FastifyInstance, deps: Deps, limits: { readonly limit?: number } = {}) {
  const { forPerson: forSignedIn } = await accountPages(app, deps, limits)
  const forPerson = (handler: Handler<PersonRequest>) =>
    forSignedIn(async (given) => {
      if (given.person.status === 'blocked') throw new RescodeError(20016)
      return handler(given)
    }, HOME)
  const forDeveloper = (handler: Handler<PersonRequest>) =>
    forPerson(async (given) => ((await isDeveloper(deps, given.person)) ? handler(given) : given.goTo(HOME)))
  const forTeam = (role: MemberRole) => (handler: Handler<TeamRequest>) =>
    forDeveloper(async (given) => {
      const team = await findMembership(deps, given.person, param(given.request, 'team_id'))
      if (!team) throw noSuchPath()
      if (role === 'owner' && team.role !== 'owner') throw ownersOnly()
      return handler({ ...given, team })
    })
  const forApp = (role: MemberRole) => (handler: Handler<AppRequest>) =>
    forDeveloper(async (given) => {
      const found = await findAppAccess(deps, given.person, param(given.request, 'app_key'))
      if (!found) throw noSuchPath()
      if (role === 'owner' && found.role !== 'owner') throw ownersOnly()
      return handler({ ...given, app: found })
    })
  return {
    forPerson: pagesOf<PersonRequest>(app, forPerson),
    forDeveloper: pagesOf<PersonRequest>(app, forDeveloper),
    forTeam: { developer: pagesOf<TeamRequest>(app, forTeam('developer')), owner: pagesOf(app, forTeam('owner')) },
    forApp: { developer: pagesOf<AppRequest>(app, forApp('developer')), owner: pagesOf(app, forApp('owner')) },
  }
}

const STATUS: Partial<Readonly<Record<TeamRefusal['reason'], number>>> = {
  not_owner: 403,
  invited_only: 403,
  link_invalid: 404,
  link_expired: 410,
}

interface Attempt {
  readonly work: () => Promise<FastifyReply | string>
  /** The page of the form, with why it was not done; `error`: what was unfit. */
  readonly show: (alert: string, error?: InvalidInput) => Promise<FastifyReply>
  /** Id of the text for what was typed and cannot be taken. */
  readonly unfit?: string
}

/** Does something, or shows the page with why it was not done. */
export async function orRefused(given: PersonRequest, { work, show, unfit }: Attempt): Promise<FastifyReply | string> {
  try {
    return await work()
  } catch (error) {
    if (unfit !== undefined && error instanceof InvalidInput) {
      given.reply.code(400)
      return show(given.t(unfit), error)
    }
    if (!(error instanceof TeamRefusal)) throw error
    noteForLog(given.request, { detail: error.reason })
    given.reply.code(STATUS[error.reason] ?? 409)
    return show(given.t(`developer.refusal.${error.reason}`))
  }
}

/** Does it for somebody who has shown just now who they are, with a second factor; others do so first, and come back to `path`. */
export async function sensitive(
  deps: Deps,
  given: PersonRequest,
  { path, ...attempt }: Attempt & { readonly path: string },
): Promise<FastifyReply | string> {
  const factor = await STEP_UP.secondFactor(deps, given.person)
  if (factor === 'none') {
    given.reply.code(403)
    return attempt.show(given.t('developer.secret.needs_factor'))
  }
  if (factor === 'not-used' || !(await STEP_UP.isFresh(deps, given.person))) {
    return STEP_UP.ask(given.reply, path, true)
  }
  return orRefused(given, attempt)
}

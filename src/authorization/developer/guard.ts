import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { noteForLog } from '../../platform/lib/web/observe.ts'
import { noSuchPath, RescodeError } from '../../platform/lib/web/rescode.ts'
import { STEP_UP } from '../account/index.ts'
import { accountPages, type PersonRequest, pagesOf, pathOf } from '../people/index.ts'
import {
  type AppAccess,
  findAppAccess,
  findMembership,
  isDeveloper,
  type Membership,
  TeamRefusal,
} from '../teams/index.ts'

/** Paths of the start page, a team and an app. */
export const HOME = '/developer'
export const TEAM = `${HOME}/teams/:team_id`
export const APP = `${HOME}/apps/:app_key`

type Result = Promise<FastifyReply | string>
type Handler<Context> = (context: Context) => Promise<FastifyReply>

/** A request by a member of the team in the path. */
export interface TeamRequest extends PersonRequest {
  readonly team: Membership
}

/** A request by a member of the team of the app in the path. */
export interface AppRequest extends PersonRequest {
  readonly app: AppAccess
}

const param = (request: FastifyRequest, name: string): string =>
  (request.params as Readonly<Record<string, string>>)[name] ?? ''

const ownersOnly = (): RescodeError => new RescodeError(20003, { detail: 'not an owner' })

/**
 * Access to developer pages. Blocked people have none, since they could change apps that others use; people who have
 * not accepted the terms are redirected to them. Teams and apps of others yield 404.
 */
export async function developerPages(app: FastifyInstance, deps: Deps, limits: { readonly limit?: number } = {}) {
  const { forPerson: forSignedIn } = await accountPages(app, deps, limits)
  const forPerson = (handler: Handler<PersonRequest>) =>
    forSignedIn(async (context) => {
      if (context.person.status === 'blocked') throw new RescodeError(20016)
      return handler(context)
    }, HOME)
  const forDeveloper = (handler: Handler<PersonRequest>) =>
    forPerson(async (context) => ((await isDeveloper(deps.db, context.person)) ? handler(context) : context.goTo(HOME)))
  const forTeam = (role: MemberRole) => (handler: Handler<TeamRequest>) =>
    forDeveloper(async (context) => {
      const team = await findMembership(deps.db, context.person, param(context.request, 'team_id'))
      if (!team) throw noSuchPath()
      if (role === 'owner' && team.role !== 'owner') throw ownersOnly()
      return handler({ ...context, team })
    })
  const forApp = (role: MemberRole) => (handler: Handler<AppRequest>) =>
    forDeveloper(async (context) => {
      const found = await findAppAccess(deps.db, context.person, param(context.request, 'app_key'))
      if (!found) throw noSuchPath()
      if (role === 'owner' && found.role !== 'owner') throw ownersOnly()
      return handler({ ...context, app: found })
    })
  const pages = <Context extends PersonRequest>(guard: Parameters<typeof pagesOf<Context>>[1]) => {
    const { get, form } = pagesOf<Context>(app, guard)
    return {
      get,
      form: (path: string, options: FormOf<Context>, work: (context: Context) => Result) =>
        form(path, options.page, (context) => {
          const attempt = () => orRefused(context, options, () => work(context))
          return options.sensitive ? withFactor(deps, context, options, attempt) : attempt()
        }),
    }
  }
  return {
    forPerson: pages<PersonRequest>(forPerson),
    forDeveloper: pages<PersonRequest>(forDeveloper),
    forTeam: { developer: pages<TeamRequest>(forTeam('developer')), owner: pages<TeamRequest>(forTeam('owner')) },
    forApp: { developer: pages<AppRequest>(forApp('developer')), owner: pages<AppRequest>(forApp('owner')) },
  }
}

/** A form of a page. */
interface FormOf<Context> {
  readonly page: string
  /** Shows the page with the reason of a refusal; `error` has the invalid fields. */
  readonly show: (context: Context, alert: string, error?: InvalidInput) => Promise<FastifyReply>
  /** Key of the text for invalid input. */
  readonly unfit?: string
  /** Needs a fresh sign-in with a second factor. */
  readonly sensitive?: true
}

const STATUS: Partial<Readonly<Record<TeamRefusal['reason'], number>>> = {
  not_owner: 403,
  invited_only: 403,
  link_invalid: 404,
  link_expired: 410,
}

/** Runs `work`, or shows the page with the reason why it was refused. */
export async function orRefused<Context extends PersonRequest>(
  context: Context,
  { show, unfit }: Pick<FormOf<Context>, 'show' | 'unfit'>,
  work: () => Result,
): Promise<FastifyReply | string> {
  try {
    return await work()
  } catch (error) {
    if (unfit !== undefined && error instanceof InvalidInput) {
      context.reply.code(400)
      return show(context, context.t(unfit), error)
    }
    if (!(error instanceof TeamRefusal)) throw error
    noteForLog(context.request, { detail: error.reason })
    context.reply.code(STATUS[error.reason] ?? 409)
    return show(context, context.t(`developer.refusal.${error.reason}`))
  }
}

/** Runs `work` only after a fresh sign-in with a second factor; otherwise asks for one, and leads back to the page. */
export async function withFactor<Context extends PersonRequest>(
  deps: Deps,
  context: Context,
  { page, show }: Pick<FormOf<Context>, 'page' | 'show'>,
  work: () => Promise<FastifyReply | string>,
): Promise<FastifyReply | string> {
  const factor = await STEP_UP.secondFactor(deps, context.person)
  if (factor === 'none') {
    context.reply.code(403)
    return show(context, context.t('developer.secret.needs_factor'))
  }
  if (factor === 'not-used' || !(await STEP_UP.isFresh(deps, context.person))) {
    return STEP_UP.ask(context.reply, pathOf(page, context.request), true)
  }
  return work()
}

import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { type Action, elevatedBy, namesIn, partsOf, routesOf } from '../../platform/lib/action.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { forOperatorsOnly, operatorOf, seesPeople } from '../../platform/lib/web/admin-auth.ts'
import { sendDownload } from '../../platform/lib/web/download.ts'
import { answerLossless } from '../../platform/lib/web/envelope.ts'
import { noSuchRoute } from '../../platform/lib/web/methods.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { textsFor } from '../../platform/lib/web/page.ts'
import { echo } from '../../platform/lib/web/rescode.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { ALL_ACTIONS } from './all.ts'
import { fieldsOf, typedFields } from './fields.ts'
import { withWarnings } from './shown.ts'
import { numberOrText } from './values.ts'

/** The admin API: a route below /admin/v1 for every operation that a room declares. */
export const actionsRoom: FastifyPluginAsync<{ deps: ServiceDeps }> = async (room, { deps }) => {
  await room.register(
    async (app) => {
      forOperatorsOnly(app)
      app.addHook('preHandler', async (request) => noteSubject(request))
      app.setNotFoundHandler((request) => {
        throw noSuchRoute(request)
      })
      for (const action of ALL_ACTIONS) actionRoute(app, deps, action)
    },
    { prefix: '/admin/v1' },
  )
}

/** Deps with the request's operator as the actor, for the audit log. */
function onBehalfOf(deps: ServiceDeps, request: FastifyRequest): ServiceDeps {
  const { kind, name } = operatorOf(request)
  return { ...deps, actor: { ...actorOf(request, kind ?? 'operator', name), by: kind ? 'command' : 'api' } }
}

function actionRoute(app: FastifyInstance, deps: ServiceDeps, action: Action<ServiceDeps>): void {
  const { method, path } = partsOf(action.route)
  const answer =
    (perform: typeof action.perform, readsQuery: boolean, fixed = {}) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const given = inputOf(request, action, readsQuery, fixed)
      const elevated = elevatedBy(action, given)
      if (elevated) await app.requireRole(request, elevated.role, elevated.what)
      const output = await perform(onBehalfOf(deps, request), given)
      if (action.respond) {
        noteForLog(request, { code: 0 })
        const file = action.respond.of(output, textsFor(request))
        return sendDownload(reply.header('Vary', 'Accept-Language, Cookie'), file)
      }
      const shown = action.masked && !seesPeople(request) ? action.masked(output) : output
      logWarnings(request, action, output)
      return answerLossless(request, reply, withWarnings(action, output, shown))
    }
  const reads = { readsQuery: true, ...(action.recordsLook ? { answersHead: false as const } : {}) }
  for (const { route, fixed } of routesOf(action)) {
    app.route({
      method,
      url: partsOf(route).path,
      config: method === 'GET' ? reads : {},
      ...(action.bodyLimit ? { bodyLimit: action.bodyLimit } : {}),
      handler: answer(action.perform, method === 'GET', fixed),
    })
  }
  if (action.foresee && action.previewRole)
    app.get(path, { config: { readsQuery: true } }, answer(action.foresee, true))
}

/** Logs only which fields the warnings are about. */
function logWarnings(request: FastifyRequest, { warnings }: Action, output: object): void {
  const warned = warnings?.of(output) ?? []
  if (!warnings || warned.length === 0) return
  const { partner_id } = output as Readonly<Record<string, unknown>>
  request.log.warn({ partnerId: String(partner_id), fields: warned.map(({ field }) => field) }, warnings.log)
}

/** Whether it may be called without a body. */
const needsNoBody = (action: Action): boolean =>
  partsOf(action.route).method !== 'PATCH' && typedFields(action).every(({ required }) => !required)

/** The fields of the path together with those of the query or body, which must not repeat one of the path. */
function inputOf({ params, query, body }: FastifyRequest, action: Action, readsQuery: boolean, fixed: object): unknown {
  const given: unknown = readsQuery ? withNumbers(action, query) : (body ?? (needsNoBody(action) ? {} : undefined))
  const isRecord = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (!isRecord) return given
  const twice = namesIn(partsOf(action.route).path).filter((name) => name in given)
  if (twice.length > 0) throw new InvalidInput(twice.map((field) => ({ field, problem: localized('in-path-already') })))
  return { ...given, ...withNumbers(action, params), ...fixed }
}

/** Everything in a URL is text: converts what the schema wants as a number. */
function withNumbers(action: Action, texts: unknown): object {
  const numbers = new Set(fieldsOf(action).flatMap(({ name, kind }) => (kind === 'number' ? [name] : [])))
  return Object.fromEntries(
    Object.entries(Object(texts)).map(([name, text]) => [
      name,
      numbers.has(name) && typeof text === 'string' ? numberOrText(text) : text,
    ]),
  )
}

function noteSubject(request: FastifyRequest): void {
  const { app_key, partner_id } = request.params as Readonly<Record<string, string | undefined>>
  if (app_key) noteForLog(request, { appKey: echo(app_key) })
  if (partner_id) noteForLog(request, { partnerId: echo(partner_id) })
}

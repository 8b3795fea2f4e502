import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
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
import { numberIfOne } from './values.ts'

/** Every operation of operators that a room declares as a row, below /admin/v1. */
export const actionsRoom: FastifyPluginAsync<{ deps: ServiceDeps }> = async (room, { deps }) => {
  await room.register(
    async (app) => {
      forOperatorsOnly(app)
      app.addHook('preHandler', async (request) => noteSubject(request))
      // For the paths and methods that no room has below /admin/v1.
      app.setNotFoundHandler((request) => {
        throw noSuchRoute(request)
      })
      for (const action of ALL_ACTIONS) actionRoute(app, deps, action)
    },
    { prefix: '/admin/v1' },
  )
}

/** Deps with the operator of the request as actor, for the audit log. */
function onBehalfOf(deps: ServiceDeps, request: FastifyRequest): ServiceDeps {
  const { kind, name } = operatorOf(request)
  return { ...deps, actor: { ...actorOf(request, kind ?? 'operator', name), by: kind ? 'command' : 'api' } }
}

function actionRoute(app: FastifyInstance, deps: ServiceDeps, action: Action<ServiceDeps>): void {
  const { method, path } = partsOf(action.route)
  const answer =
    (perform: typeof action.perform, readsQuery: boolean, fixed = {}) =>
    async (request: FastifyRequest, reply: Reply) => {
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
      return answerLossless(request, reply, { ...shown, ...warningsIn(request, action, output) })
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

/** For the answer; the log has their fields. */
function warningsIn(request: FastifyRequest, { warnings }: Action, output: object): object {
  const warned = warnings?.of(output) ?? []
  if (!warnings || warned.length === 0) return {}
  const { partner_id } = output as Readonly<Record<string, unknown>>
  request.log.warn({ partnerId: String(partner_id), fields: warned.map(({ field }) => field) }, warnings.log)
  return { warnings: warned }
}

type Reply = Parameters<typeof answerLossless>[1]

/** Whether it can be asked for without a body. */
const needsNoBody = (action: Action): boolean =>
  partsOf(action.route).method !== 'PATCH' && typedFields(action).every(({ required }) => !required)

/** What the path, and the query or the body, say. A field of the path is not said again. */
function inputOf({ params, query, body }: FastifyRequest, action: Action, readsQuery: boolean, fixed: object): unknown {
  const given: unknown = readsQuery ? withNumbers(action, query) : (body ?? (needsNoBody(action) ? {} : undefined))
  const isRecord = typeof given === 'object' && given !== null && !Array.isArray(given)
  if (!isRecord) return given
  const twice = namesIn(partsOf(action.route).path).filter((name) => name in given)
  if (twice.length > 0) throw new InvalidInput(twice.map((field) => ({ field, problem: localized('in-path-already') })))
  return { ...given, ...withNumbers(action, params), ...fixed }
}

/** An address has texts alone. */
function withNumbers(action: Action, texts: unknown): object {
  const numbers = new Set(fieldsOf(action).flatMap(({ name, kind }) => (kind === 'number' ? [name] : [])))
  return Object.fromEntries(
    Object.entries(Object(texts)).map(([name, text]) => [
      name,
      numbers.has(name) && typeof text === 'string' ? numberIfOne(text) : text,
    ]),
  )
}

function noteSubject(request: FastifyRequest): void {
  const { app_key, partner_id } = request.params as Readonly<Record<string, string | undefined>>
  if (app_key) noteForLog(request, { appKey: echo(app_key) })
  if (partner_id) noteForLog(request, { partnerId: echo(partner_id) })
}

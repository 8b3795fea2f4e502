import { randomBytes } from 'node:crypto'
import cookie from '@fastify/cookie'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import type { Log } from '../../platform/lib/log.ts'
import { NO_SCHEMAS } from '../../platform/lib/web/no-schemas.ts'
import { registerPages, sendPage } from '../../platform/lib/web/page.ts'
import { acceptAnyBodyUnread } from '../../platform/lib/web/read-body.ts'
import { parseQuery, queryOf } from '../../platform/lib/web/request-target.ts'
import type { Client } from './gatehouse.ts'
import type { OidcClient } from './oidc.ts'
import { arrive, begin, describe, renew, type Visit } from './visit.ts'

const COOKIE = 'demo_visit'
const MAX_VISITS = 1_000

/** Loaded when somebody first signs in this way. */
const openIdConnect = () => import('./oidc.ts')

/** The demo micro-app: a third party with a server of its own, as an example to click and to read. */
export async function buildMicroApp(client: Client, oidc: OidcClient, log: Log): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    exposeHeadRoutes: false,
    schemaController: NO_SCHEMAS,
  })
  const visits = new Map<string, Visit>()
  await app.register(cookie)
  await registerPages(app, 'http://localhost')
  acceptAnyBodyUnread(app)

  app.get('/', (request, reply) => {
    const visit = visits.get(request.cookies[COOKIE] ?? '')
    const data = { ...describe(visit ?? newVisit()), gatehouse: client.authUrl }
    if (visit) visit.stray = false // shown only once
    return sendPage(request, reply, 'demo/home', data, { leadsOutside: true })
  })

  app.get('/sign-in', (request, reply) => reply.redirect(begin(visitOf(visits, request, reply), client), 303))

  app.get('/callback', async (request, reply) => {
    const { values } = parseQuery(queryOf(request.raw.url ?? ''))
    await arrive(visitOf(visits, request, reply), client, values.get('code'), values.get('state'))
    return reply.redirect('/', 303)
  })

  app.post('/refresh', async (request, reply) => {
    await renew(visitOf(visits, request, reply), client)
    return reply.redirect('/', 303)
  })

  app.post('/forget', async (request, reply) => {
    visits.delete(request.cookies[COOKIE] ?? '')
    return reply.clearCookie(COOKIE, { path: '/' }).redirect('/', 303)
  })

  app.get('/oidc/sign-in', async (request, reply) =>
    reply.redirect(await (await openIdConnect()).beginOidc(visitOf(visits, request, reply).oidc, oidc), 303),
  )

  app.get('/oidc/callback', async (request, reply) => {
    await (await openIdConnect()).arriveOidc(visitOf(visits, request, reply).oidc, oidc, queryOf(request.raw.url ?? ''))
    return reply.redirect('/', 303)
  })

  app.post('/oidc/sign-out', async (request, reply) =>
    reply.redirect(await (await openIdConnect()).leaveOidc(visitOf(visits, request, reply).oidc, oidc), 303),
  )

  return app
}

const newVisit = (): Visit => ({ states: new Set(), calls: [], oidc: { pending: [] } })

/** This browser's visit, or a new one, which displaces the oldest if there are too many. */
function visitOf(visits: Map<string, Visit>, request: FastifyRequest, reply: FastifyReply): Visit {
  const known = visits.get(request.cookies[COOKIE] ?? '')
  if (known) return known
  const [oldest] = visits.keys()
  if (oldest !== undefined && visits.size >= MAX_VISITS) visits.delete(oldest)
  const id = randomBytes(16).toString('hex')
  const visit = newVisit()
  visits.set(id, visit)
  reply.setCookie(COOKIE, id, { path: '/', httpOnly: true, sameSite: 'lax' })
  return visit
}

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { NamedFailure } from '../../platform/lib/failure.ts'
import { flushRepliesPerTick } from '../../platform/lib/web/flush-replies.ts'
import { acceptForms } from '../../platform/lib/web/forms.ts'
import { foundInQuery } from '../../platform/lib/web/misplaced.ts'
import { answerStandard, sendStandardFailure, standardFailureOf } from '../../platform/lib/web/oauth-response.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { type Parameters, required, revokeToken } from '../oauth/index.ts'
import { type AccessKind, describeToken } from '../resource/index.ts'
import { authenticateClient, CLIENT_PARAMETERS, type Client, refusePublic } from './client.ts'
import { allowRegisteredOrigins, answerPreflight, type RegisteredOrigins } from './cors-guard.ts'
import { introspect } from './introspect.ts'
import { clientForm, namesOf, tokenForm, type UserInfo } from './messages.ts'
import { pushRequest } from './pushed-request.ts'
import { answerStandardTokenRequest, type EndpointDeps, TOKEN_PARAMETERS } from './token.ts'
import { readUserInfo } from './userinfo.ts'
import { formOf, parseForm, readKnown } from './wire.ts'

const FORM_LIMIT = 64 * 1024
const ABOUT_A_TOKEN = [clientForm, tokenForm].flatMap(namesOf)

/** The endpoints that programs call: token, userinfo, introspection, revocation, pushed requests. */
export async function standardTokenRoutes(
  app: FastifyInstance,
  { deps, origins }: { deps: EndpointDeps; origins: RegisteredOrigins },
): Promise<void> {
  await acceptForms(app, FORM_LIMIT, { parser: parseForm })
  flushRepliesPerTick(app)
  app.setErrorHandler((error, request, reply) =>
    sendStandardFailure(challenge(error, request, reply), standardFailureOf(foundInQuery(error, request), request)),
  )

  async function clientOf(request: FastifyRequest, parameters: Parameters): Promise<Client> {
    const { authorization } = request.headers
    const client = await authenticateClient(deps, { parameters, authorization, address: request.ip })
    noteForLog(request, { appKey: client.app.app_key, ...(client.isPublic ? { isAppUnauthenticated: true } : {}) })
    return client
  }

  await app.register(async (open) => {
    allowRegisteredOrigins(open, origins)
    for (const path of ['/token', '/revoke']) answerPreflight(open, path, 'POST')
    answerPreflight(open, '/userinfo', 'GET, POST')

    open.post('/token', async (request, reply) => {
      const parameters = readKnown(formOf(request.body), TOKEN_PARAMETERS)
      const client = await clientOf(request, parameters)
      const actor = actorOf(request, 'app', client.app.app_key)
      return answerStandard(reply, 200, await answerStandardTokenRequest(deps, client, actor, parameters))
    })

    open.post('/revoke', async (request, reply) => {
      const parameters = readKnown(formOf(request.body), ABOUT_A_TOKEN)
      const { app: client } = await clientOf(request, parameters)
      const acting = { ...deps, actor: actorOf(request, 'app', client.app_key) }
      await revokeToken(acting, client, required(parameters, 'token'))
      return answerStandard(reply, 200, {})
    })

    const userInfo = async (request: FastifyRequest, reply: FastifyReply) => {
      const { authorization } = request.headers
      const { token, claims } = await readUserInfo(deps, { authorization, form: formOf(request.body) })
      noteForLog(request, { appKey: token.app_key })
      app.accessLedger.count(token, ...kindsIn(claims))
      return answerStandard(reply, 200, claims)
    }
    open.get('/userinfo', { config: { answersHead: false } }, userInfo) // reads are recorded for the user
    open.post('/userinfo', userInfo)
  })

  app.post('/introspect', async (request, reply) => {
    const parameters = readKnown(formOf(request.body), ABOUT_A_TOKEN)
    const text = parameters.get('token') ?? ''
    // Looked up in parallel with the client, so that more requests share each statement; answered only once that is known.
    const described = describeToken(deps, text)
    described.catch(() => {}) // not awaited if the client is refused
    const client = refusePublic(await clientOf(request, parameters))
    required(parameters, 'token')
    return answerStandard(reply, 200, await introspect(deps, client, text, await described))
  })

  app.post('/par', async (request, reply) => {
    const form = formOf(request.body)
    const client = await clientOf(request, readKnown(form, CLIENT_PARAMETERS))
    return answerStandard(reply, 201, await pushRequest(deps, client, form, request.ip))
  })
}

const kindsIn = ({ name, phone_number }: UserInfo): readonly AccessKind[] => [
  ...(name === undefined ? [] : (['profile'] as const)),
  ...(phone_number === undefined ? [] : (['phone'] as const)),
]

const REALM = 'realm="gatehouse"'

/** Adds WWW-Authenticate: for a client that tried Basic (RFC 6749 §5.2), and at userinfo (RFC 6750 §3). */
function challenge(thrown: unknown, { headers, routeOptions }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = thrown instanceof NamedFailure ? thrown.row.standard : undefined
  if (!answer) return reply
  if (!routeOptions.url?.endsWith('/userinfo')) {
    const triedBasic = /^basic\b/i.test(headers.authorization ?? '')
    return answer.status === 401 && triedBasic ? reply.header('WWW-Authenticate', `Basic ${REALM}`) : reply
  }
  // For a request without a token, only the scheme (RFC 6750 §3.1).
  const error = answer.error === 'invalid_request' && answer.status === 401 ? '' : `, error="${answer.error}"`
  return reply.header('WWW-Authenticate', `Bearer ${REALM}${error}`)
}

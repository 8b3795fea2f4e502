import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { rotation } from '../lib/crypto/generated-secret.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import { noteForLog } from '../lib/web/observe.ts'
import { echo } from '../lib/web/rescode.ts'
import {
  approveMicroApp,
  createMicroApp,
  listMicroApps,
  rotateAppWebhookSecret,
  showMicroApp,
  suspendMicroApp,
  updateMicroApp,
} from './micro-app.ts'
import { rotateSecret } from './secret.ts'

interface OneApp {
  Params: { app_key: string }
}

/** The operator's routes for micro-apps, below /admin/v1. */
export function microAppRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.addHook<OneApp>('preHandler', async (request) => {
    if (request.params.app_key) noteForLog(request, { appKey: echo(request.params.app_key) })
  })

  app.get('/apps', { config: { readsQuery: true } }, async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await listMicroApps(depsFor(request), parseInput(listMicroApps.input, request.query)),
    ),
  )

  app.post('/apps', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await createMicroApp(depsFor(request), parseInput(createMicroApp.input, request.body)),
    ),
  )

  app.get<OneApp>('/apps/:app_key', async (request, reply) =>
    answerSuccess(request, reply, await showMicroApp(depsFor(request), request.params.app_key)),
  )

  app.patch<OneApp>('/apps/:app_key', async (request, reply) => {
    const changes = parseInput(updateMicroApp.input, request.body)
    return answerSuccess(request, reply, await updateMicroApp(depsFor(request), request.params.app_key, changes))
  })

  app.post<OneApp>('/apps/:app_key/approve', async (request, reply) =>
    answerSuccess(request, reply, await approveMicroApp(depsFor(request), request.params.app_key)),
  )

  app.post<OneApp>('/apps/:app_key/suspend', async (request, reply) =>
    answerSuccess(request, reply, await suspendMicroApp(depsFor(request), request.params.app_key)),
  )

  app.post<OneApp>('/apps/:app_key/rotate-webhook-secret', async (request, reply) =>
    answerSuccess(request, reply, await rotateAppWebhookSecret(depsFor(request), request.params.app_key)),
  )

  app.post<OneApp>('/apps/:app_key/rotate-secret', async (request, reply) => {
    const input = parseInput(rotation, request.body ?? {})
    return answerSuccess(request, reply, await rotateSecret(depsFor(request), request.params.app_key, input))
  })
}

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerSuccess } from '../lib/web/envelope.ts'
import {
  createOperator,
  disableOperator,
  enableOperator,
  listOperators,
  setOperatorRole,
  showOperator,
} from './operator.ts'
import { setOperatorPassword } from './sign-in.ts'
import { newOperatorToken, revokeOperatorToken } from './token.ts'
import { resetTotp } from './totp.ts'
import { oneOperator } from './wire.ts'

interface OneOperatorRoute {
  Params: { name: string }
}

/** The body's fields with the name of the path. */
const withName = ({ body, params }: FastifyRequest<OneOperatorRoute>): object => ({ ...Object(body ?? {}), ...params })

/** Management of operators, below /admin/v1. */
export function operatorAdminRoutes(app: FastifyInstance, depsFor: DepsFor<Deps>): void {
  app.get('/operators', async (request, reply) =>
    answerSuccess(request, reply, { operators: await listOperators(depsFor(request)) }),
  )

  app.post('/operators', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await createOperator(depsFor(request), parseInput(createOperator.input, request.body)),
    ),
  )

  app.get<OneOperatorRoute>('/operators/:name', async (request, reply) =>
    answerSuccess(request, reply, await showOperator(depsFor(request), parseInput(oneOperator, request.params))),
  )

  app.post<OneOperatorRoute>('/operators/:name/role', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await setOperatorRole(depsFor(request), parseInput(setOperatorRole.input, withName(request))),
    ),
  )

  app.post<OneOperatorRoute>('/operators/:name/disable', async (request, reply) =>
    answerSuccess(request, reply, await disableOperator(depsFor(request), parseInput(oneOperator, withName(request)))),
  )

  app.post<OneOperatorRoute>('/operators/:name/enable', async (request, reply) =>
    answerSuccess(request, reply, await enableOperator(depsFor(request), parseInput(oneOperator, withName(request)))),
  )

  app.post<OneOperatorRoute>('/operators/:name/tokens', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await newOperatorToken(depsFor(request), parseInput(newOperatorToken.input, withName(request))),
    ),
  )

  app.post<OneOperatorRoute>('/operators/:name/tokens/revoke', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await revokeOperatorToken(depsFor(request), parseInput(revokeOperatorToken.input, withName(request))),
    ),
  )

  app.post<OneOperatorRoute>('/operators/:name/password', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await setOperatorPassword(depsFor(request), parseInput(setOperatorPassword.input, withName(request))),
    ),
  )

  app.post<OneOperatorRoute>('/operators/:name/reset-totp', async (request, reply) =>
    answerSuccess(request, reply, await resetTotp(depsFor(request), parseInput(oneOperator, withName(request)))),
  )
}

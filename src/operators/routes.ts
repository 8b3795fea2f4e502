import type { FastifyInstance, FastifyRequest } from 'fastify'
import { settingsInForce } from '../config/in-force.ts'
import type { Deps } from '../deps.ts'
import { parseInput } from '../lib/json/input.ts'
import type { ActingFor } from '../lib/web/admin-auth.ts'
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

/** The body's fields; the path's name counts. */
const withName = ({ body, params }: FastifyRequest<OneOperatorRoute>): object => ({ ...Object(body ?? {}), ...params })

/** Operators about operators, and the settings of the process that answers; below /admin/v1. */
export function operatorAdminRoutes(app: FastifyInstance, as: ActingFor<Deps>): void {
  app.get('/settings', async (request, reply) => answerSuccess(request, reply, settingsInForce(as(request).config)))

  app.get('/operators', async (request, reply) =>
    answerSuccess(request, reply, { operators: await listOperators(as(request)) }),
  )

  app.post('/operators', async (request, reply) =>
    answerSuccess(request, reply, await createOperator(as(request), parseInput(createOperator.input, request.body))),
  )

  app.get<OneOperatorRoute>('/operators/:name', async (request, reply) =>
    answerSuccess(request, reply, await showOperator(as(request), parseInput(oneOperator, request.params))),
  )

  app.post<OneOperatorRoute>('/operators/:name/role', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await setOperatorRole(as(request), parseInput(setOperatorRole.input, withName(request))),
    ),
  )

  app.post<OneOperatorRoute>('/operators/:name/disable', async (request, reply) =>
    answerSuccess(request, reply, await disableOperator(as(request), parseInput(oneOperator, withName(request)))),
  )

  app.post<OneOperatorRoute>('/operators/:name/enable', async (request, reply) =>
    answerSuccess(request, reply, await enableOperator(as(request), parseInput(oneOperator, withName(request)))),
  )

  app.post<OneOperatorRoute>('/operators/:name/tokens', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await newOperatorToken(as(request), parseInput(newOperatorToken.input, withName(request))),
    ),
  )

  app.post<OneOperatorRoute>('/operators/:name/tokens/revoke', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await revokeOperatorToken(as(request), parseInput(revokeOperatorToken.input, withName(request))),
    ),
  )

  app.post<OneOperatorRoute>('/operators/:name/password', async (request, reply) =>
    answerSuccess(
      request,
      reply,
      await setOperatorPassword(as(request), parseInput(setOperatorPassword.input, withName(request))),
    ),
  )

  app.post<OneOperatorRoute>('/operators/:name/reset-totp', async (request, reply) =>
    answerSuccess(request, reply, await resetTotp(as(request), parseInput(oneOperator, withName(request)))),
  )
}

import type { FastifyPluginAsync } from 'fastify'
import { contractAnswer } from '../../platform/lib/failure.ts'
import { sendErrorPage } from '../../platform/lib/web/page.ts'
import { noSuchPath } from '../../platform/lib/web/rescode.ts'
import { limitPages } from '../../platform/throttle/index.ts'
import { oauthFailure } from './failures.ts'
import { authorizationRoutes, tokenRoutes } from './routes.ts'
import type { TokenDeps } from './token-cap.ts'

/** A1–A3, and the 405 and 404 answers for everything under /oauth/v2/. */
export const oauthRoom: FastifyPluginAsync<{ deps: TokenDeps }> = async (app, { deps }) => {
  const native = deps.config.ENVELOPE_HTTP_STATUS === 'native'
  await app.register(
    async (room) => {
      room.setNotFoundHandler({ preHandler: limitPages(app, deps.config) }, (request, reply) => {
        const allowed = room.allowedMethods(request.url)
        const error =
          allowed.length > 0 ? contractAnswer(oauthFailure('method_not_allowed', { allow: allowed })) : noSuchPath()
        return sendErrorPage(request, reply, error, native)
      })
      await room.register(authorizationRoutes, { deps })
      await room.register(tokenRoutes, { deps })
    },
    { prefix: '/oauth/v2' },
  )
}

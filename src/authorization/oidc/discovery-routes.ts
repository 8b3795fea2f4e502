import type { FastifyInstance, FastifyReply } from 'fastify'
import { JSON_TYPE, NO_STORE_HEADERS } from '../../platform/lib/web/envelope.ts'
import { allowRegisteredOrigins, answerPreflight, type RegisteredOrigins } from './cors-guard.ts'
import { discoveryDocument } from './discovery.ts'
import { sendJsonError } from './error-routes.ts'
import type { OidcDeps } from './id-token.ts'

const DOCUMENTS = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']
const JWKS = '/oauth2/jwks'
const MAX_AGE_S = 300

/** Clients may cache the documents, but the JWKS no longer than a new key waits before it signs. */
export async function discoveryRoutes(
  app: FastifyInstance,
  { deps, origins }: { deps: OidcDeps; origins: RegisteredOrigins },
): Promise<void> {
  const { config, signingKeys } = deps
  const send = (reply: FastifyReply, seconds: number, body: object) =>
    reply
      .headers({ ...NO_STORE_HEADERS, 'Cache-Control': `public, max-age=${seconds}`, 'Content-Type': JSON_TYPE })
      .send(JSON.stringify(body))
  app.setErrorHandler(sendJsonError)
  allowRegisteredOrigins(app, origins)
  const document = discoveryDocument(config)
  for (const path of DOCUMENTS) {
    app.get(path, (_request, reply) => send(reply, MAX_AGE_S, document))
    answerPreflight(app, path, 'GET')
  }
  app.get(JWKS, async (_request, reply) => {
    const keys = await signingKeys.publicJwks()
    return send(reply, Math.min(MAX_AGE_S, config.SIGNING_KEY_LEAD_S), { keys })
  })
  answerPreflight(app, JWKS, 'GET')
}

import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { JSON_TYPE, NO_STORE_HEADERS } from '../../platform/lib/web/envelope.ts'
import { perLocale, translator } from '../../platform/lib/web/locale.ts'
import { localeOfRequest, sendPage } from '../../platform/lib/web/page.ts'
import { curlOf } from './examples.ts'
import { openApi } from './openapi.ts'
import { quickstart } from './quickstart.ts'
import { describeOperations } from './reference.ts'

export const developerRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps: { config } }) => {
  const document = perLocale((locale) => JSON.stringify(openApi(config, translator(locale)), null, 2))
  const reference = perLocale((locale) => {
    const operations = describeOperations(config, translator(locale)).map((operation) => ({
      ...operation,
      requests: operation.requests.map((request) => ({ ...request, curl: curlOf(operation, request.example) })),
      // Without parameters there is still one request to try.
      curl: curlOf(operation, {}),
    }))
    return {
      standard: operations.filter(({ dialect }) => dialect === 'standard'),
      contract: operations.filter(({ dialect }) => dialect === 'contract'),
    }
  })

  const connect = perLocale((locale) => quickstart(config, translator(locale)))

  app.get('/openapi.json', (request, reply) =>
    reply
      .headers({ ...NO_STORE_HEADERS, 'Content-Type': JSON_TYPE, Vary: 'Accept-Language, Cookie' })
      .send(document(localeOfRequest(request))),
  )

  app.get('/docs', (request, reply) => {
    // The page's policy lets it call its own origin only.
    const tried = new URL(config.API_URL).origin === new URL(config.PUBLIC_URL).origin
    const data = { ...reference(localeOfRequest(request)), tried }
    return sendPage(request, reply, 'developer/reference', data, { scripts: true })
  })

  app.get('/connect', (request, reply) =>
    sendPage(request, reply, 'developer/connect', connect(localeOfRequest(request)), { scripts: true }),
  )
}

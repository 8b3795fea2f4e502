import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../../platform/deps.ts'
import { prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { zipOf } from '../../../platform/lib/zip.ts'
import { findPartnerSession, type SignedInPartner, sessionCookie } from '../session.ts'
import { brunoFiles, type Definitions, definitionsIn, PARTNER_URL, postmanCollection } from './collections.ts'
import { jsonSchemas } from './json-schema.ts'
import { openApi } from './openapi.ts'

const asText = (value: object): Buffer => Buffer.from(prettyLossless(value))

/** Downloads generated from the same definitions as the field reference. */
const EXPORTS: Readonly<Record<string, (definitions: Definitions, seller: SignedInPartner | null) => Buffer>> = {
  'openapi-notices.json': (definitions) => {
    const title = definitions.t('sandbox.docs.notices')
    return asText(
      openApi({ ...definitions, title, server: { url: definitions.baseUrl }, sections: definitions.notices }),
    )
  },
  'openapi-interfaces.json': (definitions) => {
    const server = { url: '{baseUrl}', variables: { baseUrl: { default: PARTNER_URL } } }
    const title = definitions.t('sandbox.docs.interfaces')
    return asText(openApi({ ...definitions, title, server, sections: definitions.interfaces }))
  },
  'schemas.json': ({ notices, interfaces }) => asText(jsonSchemas([...notices, ...interfaces])),
  'postman.json': (definitions, seller) => asText(postmanCollection({ ...definitions, seller })),
  'bruno.zip': (definitions, seller) => zipOf(brunoFiles({ ...definitions, seller })),
}

/** Public, in the reader's language. Signed-in sellers get their ids filled in, never the clientSecret. */
export const exportRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  // Cache: files for everybody, which never change.
  const made = new Map<string, Buffer>()
  const cookie = sessionCookie(deps.config)
  for (const [name, make] of Object.entries(EXPORTS)) {
    const type = name.endsWith('.zip') ? 'application/zip' : 'application/json; charset=utf-8'
    const isCollection = name === 'postman.json' || name === 'bruno.zip'
    app.get(`/docs/${name}`, async (request, reply) => {
      const locale = localeOfRequest(request)
      const seller = isCollection ? await findPartnerSession(deps, cookie.read(request)) : null
      const key = `${locale} ${name}`
      const file = (seller ? undefined : made.get(key)) ?? make(definitionsIn(locale, deps.config.PARTNER_URL), seller)
      if (!seller) made.set(key, file)
      const headers = { 'Content-Type': type, 'Content-Disposition': `attachment; filename="gatehouse-${name}"` }
      return reply.headers({ ...NO_STORE_HEADERS, ...headers }).send(file)
    })
  }
}

import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../../platform/deps.ts'
import { prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import type { Locale } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { zipOf } from '../../../platform/lib/zip.ts'
import { findPartnerSession, type SignedInPartner, sessionCookie } from '../session.ts'
import { brunoFiles, type Definitions, definitionsIn, PARTNER_URL, postmanCollection } from './collections.ts'
import { jsonSchemas } from './json-schema.ts'
import { openApi } from './openapi.ts'

/** Downloads generated from the same definitions as the field reference. */
const EXPORTS = [
  'openapi-notices.json',
  'openapi-interfaces.json',
  'schemas.json',
  'postman.json',
  'bruno.zip',
] as const
type Export = (typeof EXPORTS)[number]

const asText = (value: object): Buffer => Buffer.from(prettyLossless(value))

const MAKE: Readonly<Record<Export, (definitions: Definitions, seller: SignedInPartner | null) => Buffer>> = {
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
  const fileFor = (name: Export, locale: Locale, seller: SignedInPartner | null): Buffer => {
    const key = `${locale} ${name}`
    const file =
      (seller ? undefined : made.get(key)) ?? MAKE[name](definitionsIn(locale, deps.config.PARTNER_URL), seller)
    if (!seller) made.set(key, file)
    return file
  }
  const cookie = sessionCookie(deps.config)
  for (const name of EXPORTS) {
    const type = name.endsWith('.zip') ? 'application/zip' : 'application/json; charset=utf-8'
    const isCollection = name === 'postman.json' || name === 'bruno.zip'
    app.get(`/docs/${name}`, async (request, reply) => {
      const locale = localeOfRequest(request)
      const seller = isCollection ? await findPartnerSession(deps, cookie.read(request)) : null
      return reply
        .headers({
          ...NO_STORE_HEADERS,
          'Content-Type': type,
          'Content-Disposition': `attachment; filename="gatehouse-${name}"`,
        })
        .send(fileFor(name, locale, seller))
    })
  }
}

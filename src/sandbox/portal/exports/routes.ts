import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../../platform/deps.ts'
import { prettyLossless } from '../../../platform/lib/json/lossless.ts'
import { NO_STORE_HEADERS } from '../../../platform/lib/web/envelope.ts'
import { type Locale, translator } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { zipOf } from '../../../platform/lib/zip.ts'
import { fieldReference } from '../docs/reference.ts'
import { docsTexts } from '../docs/texts.ts'
import { findPartnerSession, type SignedInPartner, sessionCookie } from '../session.ts'
import { brunoFiles, PARTNER_URL, postmanCollection } from './collections.ts'
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

function definitionsIn(locale: Locale, baseUrl: string) {
  const { notices, interfaces } = fieldReference(locale)
  return { notices, interfaces, titleOf: docsTexts(locale).title, t: translator(locale), locale, baseUrl }
}
type Definitions = ReturnType<typeof definitionsIn>

const MAKE: Readonly<Record<Export, (definitions: Definitions, seller: SignedInPartner | null) => Buffer>> = {
  'openapi-notices.json': ({ notices, baseUrl, ...described }) => {
    const title = described.t('sandbox.docs.notices')
    return asText(openApi({ ...described, title, server: { url: baseUrl }, sections: notices }))
  },
  'openapi-interfaces.json': ({ interfaces, ...described }) => {
    const own = { url: '{baseUrl}', variables: { baseUrl: { default: PARTNER_URL } } }
    const title = described.t('sandbox.docs.interfaces')
    return asText(openApi({ ...described, title, server: own, sections: interfaces }))
  },
  'schemas.json': ({ notices, interfaces, locale }) => asText(jsonSchemas([...notices, ...interfaces], locale)),
  'postman.json': (definitions, seller) => asText(postmanCollection({ ...definitions, seller: seller ?? undefined })),
  'bruno.zip': (definitions, seller) => zipOf(brunoFiles({ ...definitions, seller: seller ?? undefined })),
}

/** Public, in the reader's language. Signed-in sellers get their ids filled in, never the clientSecret. */
export const exportRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  // Built on first use; they never change while the process runs.
  const known = new Map<Locale, Definitions>()
  const definitionsOf = (locale: Locale): Definitions => {
    const definitions = known.get(locale) ?? definitionsIn(locale, deps.config.PARTNER_URL)
    known.set(locale, definitions)
    return definitions
  }
  const made = new Map<string, Buffer>()
  const publicFile = (name: Export, locale: Locale): Buffer => {
    const key = `${locale} ${name}`
    const file = made.get(key) ?? MAKE[name](definitionsOf(locale), null)
    made.set(key, file)
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
        .send(seller ? MAKE[name](definitionsOf(locale), seller) : publicFile(name, locale))
    })
  }
}

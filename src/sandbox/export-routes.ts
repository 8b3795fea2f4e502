import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { prettyLossless } from '../lib/json/lossless.ts'
import { AREA_A_HEADERS } from '../lib/web/envelope.ts'
import { type Locale, translator } from '../lib/web/locale.ts'
import { localeOfRequest } from '../lib/web/page.ts'
import { zipOf } from '../lib/zip.ts'
import { fieldReference } from './docs/reference.ts'
import { docsTexts } from './docs/texts.ts'
import { brunoFiles } from './exports/bruno.ts'
import { jsonSchemas } from './exports/messages.ts'
import { openApi } from './exports/openapi.ts'
import { postmanCollection } from './exports/postman.ts'
import { PARTNER_URL } from './exports/requests.ts'

/** Files to download, made from the same definitions as the field reference. */
const EXPORTS = [
  'openapi-notices.json',
  'openapi-interfaces.json',
  'schemas.json',
  'postman.json',
  'bruno.zip',
] as const
type Export = (typeof EXPORTS)[number]

function exportsIn(locale: Locale, baseUrl: string): Record<Export, Buffer> {
  const { notices, interfaces } = fieldReference(locale)
  const { title: titleOf } = docsTexts(locale)
  const t = translator(locale)
  const own = { url: '{baseUrl}', variables: { baseUrl: { default: PARTNER_URL } } }
  const collected = { notices, interfaces, titleOf, t, baseUrl }
  const described = { titleOf, locale, t }
  const text = (value: object): Buffer => Buffer.from(prettyLossless(value))
  return {
    'openapi-notices.json': text(
      openApi({ ...described, title: t('sandbox.docs.notices'), server: { url: baseUrl }, sections: notices }),
    ),
    'openapi-interfaces.json': text(
      openApi({ ...described, title: t('sandbox.docs.interfaces'), server: own, sections: interfaces }),
    ),
    'schemas.json': text(jsonSchemas([...notices, ...interfaces], locale)),
    'postman.json': text(postmanCollection(collected)),
    'bruno.zip': zipOf(brunoFiles(collected)),
  }
}

/** Public, like the reference itself. In the reader's language. */
export const exportRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  // Made when they are first asked for: they never change while the process runs.
  const made = new Map<Locale, Record<Export, Buffer>>()
  const filesIn = (locale: Locale): Record<Export, Buffer> => {
    const known = made.get(locale) ?? exportsIn(locale, deps.config.PARTNER_URL)
    made.set(locale, known)
    return known
  }
  for (const name of EXPORTS) {
    const type = name.endsWith('.zip') ? 'application/zip' : 'application/json; charset=utf-8'
    app.get(`/docs/${name}`, async (request, reply) =>
      reply
        .headers({
          ...AREA_A_HEADERS,
          'Content-Type': type,
          'Content-Disposition': `attachment; filename="gatehouse-${name}"`,
        })
        .send(filesIn(localeOfRequest(request))[name]),
    )
  }
}

import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { LOCALE_CODES, type Locale } from '../lib/locale.ts'
import { localeOfRequest } from '../lib/page.ts'
import { fieldReference } from './docs/reference.ts'
import { docsTexts } from './docs/texts.ts'
import { sendSandboxPage } from './guard.ts'
import { findPartnerSession, SESSION_COOKIE } from './session.ts'

/**
 * The field reference. Anybody may read it: whoever decides whether to integrate has no credentials yet. Who is signed
 * in keeps the navigation.
 */
export const docsRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  // It never changes while the process runs.
  const references = new Map(
    LOCALE_CODES.map((locale: Locale) => [locale, { ...fieldReference(locale), texts: docsTexts(locale) }]),
  )
  app.addHook('onRequest', async (request) => {
    request.partner = await findPartnerSession(deps, request.cookies[SESSION_COOKIE])
  })
  app.get('/docs', (request, reply) => {
    const { MTP_PATH_PREFIXES, MTP_CLOCK_SKEW_S } = deps.config
    const shown = { ...references.get(localeOfRequest(request)), prefixes: MTP_PATH_PREFIXES, skew: MTP_CLOCK_SKEW_S }
    return sendSandboxPage(request, reply, 'sandbox/docs', shown, { section: 'docs' })
  })
}

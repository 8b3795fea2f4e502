import type { FastifyPluginAsync } from 'fastify'
import { MOUNT, mountsOf } from '../config/mounts.ts'
import type { Deps } from '../deps.ts'
import { LOCALE_CODES, type Locale } from '../lib/web/locale.ts'
import { localeOfRequest } from '../lib/web/page.ts'
import { fieldReference } from './docs/reference.ts'
import { docsTexts } from './docs/texts.ts'
import { sendSandboxPage } from './guard.ts'
import { findPartnerSession, sessionCookie } from './session.ts'
import { ENCRYPTION_SNIPPETS } from './snippets.ts'

/**
 * The field reference. Anybody may read it: people who decide whether to integrate have no credentials yet. A signed-in
 * partner keeps the navigation.
 */
export const docsRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  // Made once: it never changes while the process runs.
  const references = new Map(
    LOCALE_CODES.map((locale: Locale) => [locale, { ...fieldReference(locale), texts: docsTexts(locale) }]),
  )
  const cookie = sessionCookie(deps.config)
  app.addHook('onRequest', async (request) => {
    request.partner = await findPartnerSession(deps, cookie.read(request))
  })
  app.get('/docs', (request, reply) => {
    const { MTP_PATH_PREFIXES, MTP_CLOCK_SKEW_S: skew } = deps.config
    const mounts = mountsOf(MTP_PATH_PREFIXES).filter((mount) => mount !== MOUNT)
    const shown = { ...references.get(localeOfRequest(request)), mounts, skew, snippets: ENCRYPTION_SNIPPETS }
    return sendSandboxPage(request, reply, 'sandbox/docs', shown, { section: 'docs' })
  })
}

import type { FastifyPluginAsync } from 'fastify'
import { MOUNT, mountsOf } from '../../../platform/config/mounts.ts'
import type { Deps } from '../../../platform/deps.ts'
import type { Locale } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { parseQuery, queryOf } from '../../../platform/lib/web/request-target.ts'
import { sendSandboxPage } from '../guard.ts'
import { findPartnerSession, sessionCookie } from '../session.ts'
import { ENCRYPTION_SNIPPETS } from '../snippets.ts'
import { DOCUMENTED_FUNCTIONS } from './functions.ts'
import { docsLimits } from './limits.ts'
import { fieldReference } from './reference.ts'
import { searchReference } from './search.ts'
import { stateMachinesOf } from './states.ts'
import { docsTexts } from './texts.ts'

const makeReference = (locale: Locale) => ({
  ...fieldReference(locale),
  texts: docsTexts(locale),
  machines: stateMachinesOf(locale),
})

/** Cache: what a locale has is never another. */
const references = new Map<Locale, ReturnType<typeof makeReference>>()

/** Made when it is first read, which takes 30 ms that a start need not wait for; it never changes. */
function referenceIn(locale: Locale): ReturnType<typeof makeReference> {
  const kept = references.get(locale)
  if (kept) return kept
  const made = makeReference(locale)
  references.set(locale, made)
  return made
}

/**
 * The field reference. Anybody may read it: people who decide whether to integrate have no credentials yet. A signed-in
 * partner keeps the navigation.
 */
export const docsRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const limits = docsLimits(deps.config)
  const cookie = sessionCookie(deps.config)
  app.addHook('onRequest', async (request) => {
    request.partner = await findPartnerSession(deps, cookie.read(request))
  })
  app.get('/docs', (request, reply) => {
    const { MTP_PATH_PREFIXES, MTP_CLOCK_SKEW_S: skew } = deps.config
    const mounts = mountsOf(MTP_PATH_PREFIXES).filter((mount) => mount !== MOUNT)
    const reference = referenceIn(localeOfRequest(request))
    const { notices, interfaces, texts } = reference
    const query = parseQuery(queryOf(request.url)).values.get('q') ?? ''
    const search = searchReference([...notices, ...interfaces], ({ name }) => texts.title(name), query)
    const functions = DOCUMENTED_FUNCTIONS
    const shown = { ...reference, mounts, skew, limits, functions, search, snippets: ENCRYPTION_SNIPPETS }
    return sendSandboxPage(request, reply, 'sandbox/docs', shown, { section: 'docs', scripts: ['sandbox-copy.js'] })
  })
}

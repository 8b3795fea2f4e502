import type { FastifyPluginAsync } from 'fastify'
import { PARTNER_LIMITS } from '../../../platform/config/call-limits.ts'
import type { Config } from '../../../platform/config/index.ts'
import { MOUNT, mountsOf } from '../../../platform/config/mounts.ts'
import type { Deps } from '../../../platform/deps.ts'
import type { Locale } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { parseQuery, queryOf } from '../../../platform/lib/web/request-target.ts'
import { ASK_AGAIN_IN_S } from '../../../ticketing/orders/index.ts'
import { BREAKER } from '../../../ticketing/partner-reach/index.ts'
import { ANSWER_SLOW_MS } from '../../checks/index.ts'
import { type FunctionId, SYSTEM_FUNCTIONS } from '../../test-plan/index.ts'
import { sendSandboxPage } from '../guard.ts'
import { findPartnerSession, sessionCookie } from '../session.ts'
import { ENCRYPTION_SNIPPETS } from '../snippets.ts'
import { fieldReference } from './reference.ts'
import { searchReference } from './search.ts'
import { stateMachinesOf } from './states.ts'
import { docsTexts } from './texts.ts'

const SECOND_MS = 1_000
const MEBIBYTE = 1_048_576

/** The limits named in the reference, as text; times in seconds. */
function docsLimits({ MTP_CLOCK_SKEW_S }: Pick<Config, 'MTP_CLOCK_SKEW_S'>): Readonly<Record<string, string>> {
  const { connectMs, headersMs, totalMs, bytes } = PARTNER_LIMITS
  return {
    connect: String(connectMs / SECOND_MS),
    headers: String(headersMs / SECOND_MS),
    total: String(totalMs / SECOND_MS),
    slow: String(ANSWER_SLOW_MS / SECOND_MS),
    mebibytes: String(bytes / MEBIBYTE),
    failures: String(BREAKER.failures),
    rest: String(BREAKER.openS),
    ask: String(ASK_AGAIN_IN_S),
    skew: String(MTP_CLOCK_SKEW_S),
  }
}

interface DocumentedFunction {
  readonly id: FunctionId
  readonly isRequired: boolean
  /** Sections of this page that describe it. */
  readonly sections: readonly string[]
}

export const DOCUMENTED_FUNCTIONS: readonly DocumentedFunction[] = SYSTEM_FUNCTIONS.map(
  ({ id, required = false, interfaces = [], notices = [] }) => ({
    id,
    isRequired: required,
    sections: [...interfaces, ...notices],
  }),
)

const makeReference = (locale: Locale) => ({
  ...fieldReference(locale),
  texts: docsTexts(locale),
  machines: stateMachinesOf(locale),
})

/** Cache: one per locale, never changes. */
const references = new Map<Locale, ReturnType<typeof makeReference>>()

/** Built on first use, because it takes 30 ms that start-up need not wait for. */
function referenceIn(locale: Locale): ReturnType<typeof makeReference> {
  const kept = references.get(locale)
  if (kept) return kept
  const made = makeReference(locale)
  references.set(locale, made)
  return made
}

/**
 * The field reference is public: people who are still deciding have no credentials. Signed-in partners keep their
 * navigation.
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

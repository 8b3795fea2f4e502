import type { FastifyPluginAsync } from 'fastify'
import { PARTNER_LIMITS } from '../../../platform/config/call-limits.ts'
import type { Config } from '../../../platform/config/index.ts'
import { MOUNT, mountsOf } from '../../../platform/config/mounts.ts'
import type { Deps } from '../../../platform/deps.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import { parseQuery, queryOf } from '../../../platform/lib/web/request-target.ts'
import { ASK_AGAIN_IN_S } from '../../../ticketing/orders/index.ts'
import { BREAKER } from '../../../ticketing/partner-reach/index.ts'
import { ANSWER_SLOW_MS } from '../../checks/index.ts'
import { SYSTEM_FUNCTIONS } from '../../test-plan/index.ts'
import { sendSandboxPage } from '../guard.ts'
import { findPartnerSession, sessionCookie } from '../session.ts'
import { ENCRYPTION_SNIPPETS } from '../snippets.ts'
import { fieldReference, type ReferenceSection } from './reference.ts'
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

/** `sections`: of this page, which describe the function. */
export const DOCUMENTED_FUNCTIONS = SYSTEM_FUNCTIONS.map(({ id, required = false, interfaces = [], notices = [] }) => ({
  id,
  isRequired: required,
  sections: [...interfaces, ...notices],
}))

/** Longer queries are cut. */
const MAX_QUERY_LENGTH = 100
const MAX_FOUND = 100

interface Found {
  readonly anchor: string
  /** The section, and for a field its path. */
  readonly location: string
  readonly text: string
}

type TitleOf = (section: ReferenceSection) => string

const entriesOf = (section: ReferenceSection, titleOf: TitleOf): (Found & { readonly words: string })[] => {
  const title = titleOf(section)
  const { name, path } = section
  return [
    { anchor: name, location: title, text: path, words: `${name} ${title} ${path}` },
    ...section.parts.flatMap(({ direction, fields }) =>
      fields.map(({ anchor, path: field, meaning, valueMeanings }) => ({
        anchor,
        location: `${title} · ${field}`,
        text: meaning,
        words: [direction, field, meaning, ...valueMeanings.map((value) => `${value.value} ${value.meaning}`)].join(
          ' ',
        ),
      })),
    ),
    ...section.codes.map(({ code, meaning }) => ({
      anchor: name,
      location: `${title} · ${code}`,
      text: meaning,
      words: `${code} ${meaning}`,
    })),
  ]
}

/** Entries that contain every word of the query, in any case, in names, paths, fields, values, codes or meanings. */
export function searchReference(sections: readonly ReferenceSection[], titleOf: TitleOf, query: string) {
  const searched = query.trim().slice(0, MAX_QUERY_LENGTH)
  const words = searched.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return { query: '', found: [], isCut: false }
  const found = sections
    .flatMap((section) => entriesOf(section, titleOf))
    .filter((entry) => words.every((word) => entry.words.toLowerCase().includes(word)))
  return { query: searched, found: found.slice(0, MAX_FOUND), isCut: found.length > MAX_FOUND }
}

/** The field reference is public, for people without credentials; signed-in partners keep their navigation. */
export const docsRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const limits = docsLimits(deps.config)
  const cookie = sessionCookie(deps.config)
  app.addHook('onRequest', async (request) => {
    request.partner = await findPartnerSession(deps, cookie.read(request))
  })
  app.get('/docs', (request, reply) => {
    const mounts = mountsOf(deps.config.MTP_PATH_PREFIXES).filter((mount) => mount !== MOUNT)
    const locale = localeOfRequest(request)
    const { notices, interfaces } = fieldReference(locale)
    const texts = docsTexts(locale)
    const query = parseQuery(queryOf(request.url)).values.get('q') ?? ''
    const search = searchReference([...notices, ...interfaces], ({ name }) => texts.title(name), query)
    const shown = {
      ...{ notices, interfaces, texts, machines: stateMachinesOf(locale), functions: DOCUMENTED_FUNCTIONS },
      ...{ mounts, limits, search, snippets: ENCRYPTION_SNIPPETS },
    }
    return sendSandboxPage(request, reply, 'sandbox/docs', shown, { section: 'docs', scripts: ['sandbox-copy.js'] })
  })
}

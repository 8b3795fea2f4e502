import pLimit from 'p-limit'
import { parsedUrl } from '../../../platform/lib/parsed-url.ts'
import { amountOfTime, type Locale, translator } from '../../../platform/lib/web/locale.ts'
import { webUrl } from '../../../platform/lib/web/web-url.ts'
import { countUse } from '../../../platform/throttle/index.ts'
import { INTERFACES, type InterfaceName } from '../../../ticketing/interfaces/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { interfaceName } from '../texts.ts'
import { badUrl, type Findings, PREFLIGHT_CHECK_IDS, type Probe, probe, verdict } from './probe.ts'

const AT_ONCE = 8
const ALL_MS = 9_500

export type InterfacePreflight = Awaited<ReturnType<typeof preflight>>[number]

/**
 * Sends one unsigned POST to each URL, all within ten seconds; an unreachable host is only tried once. Results are in
 * the order of INTERFACES, without those that have no URL. Throws 20003 when rate-limited.
 */
export async function preflight(
  deps: RunDeps,
  partnerId: bigint,
  urls: Readonly<Partial<Record<InterfaceName, string>>>,
  locale: Locale = 'en',
) {
  await countUse(deps, 'preflight', partnerId)
  const t = translator(locale)
  const given = INTERFACES.flatMap(({ name }) => {
    const url = urls[name]?.trim()
    return url ? [{ name, title: interfaceName(name, t), url }] : []
  })
  const findings = await findingsOf(deps, new Set(given.map(({ url }) => url)))
  return given.map((entry) => ({ ...entry, ...localizedFindings(findings.get(entry.url) as Findings, locale) }))
}

async function findingsOf(deps: RunDeps, urls: ReadonlySet<string>): Promise<Map<string, Findings>> {
  const endsAt = performance.now() + ALL_MS
  const limit = pLimit(AT_ONCE)
  const findings = new Map<string, Findings>()
  const tried = (url: string) => limit(() => probe(deps, url, endsAt - performance.now()))
  const byOrigin = new Map<string, string[]>()
  for (const url of urls) {
    const problem = urlProblem(url)
    if (problem !== undefined) findings.set(url, badUrl(problem))
    else byOrigin.set(new URL(url).origin, [...(byOrigin.get(new URL(url).origin) ?? []), url])
  }
  const ofOrigin = async ([first = '', ...others]: readonly string[]) => {
    const found = await tried(first)
    findings.set(first, verdict(new URL(first).href, found))
    const again = (url: string) => (hasNoConnection(found) ? found : tried(url))
    await Promise.all(others.map(async (url) => findings.set(url, verdict(new URL(url).href, await again(url)))))
  }
  await Promise.all([...byOrigin.values()].map(ofOrigin))
  return findings
}

/** Key of the text that says what is wrong with the URL. */
function urlProblem(url: string): string | undefined {
  if (webUrl.safeParse(url).success) return undefined
  const parsed = parsedUrl(url)
  return parsed && parsed.username + parsed.password !== ''
    ? 'sandbox.preflight.url_userinfo'
    : 'sandbox.preflight.url_form'
}

const hasNoConnection = (found: Probe): boolean =>
  found.outcome === 'failed' && ['unreachable', 'address', 'dns', 'connect', 'tls'].includes(found.failure)

/** The checks in the reader's language; `outcome` is the worst one. */
function localizedFindings(findings: Findings, locale: Locale) {
  const t = translator(locale)
  const checks = PREFLIGHT_CHECK_IDS.map((id) => {
    const { outcome, text, values, offSeconds, timing = null } = findings[id]
    const off = offSeconds === undefined ? '' : amountOfTime(locale, offSeconds)
    return { id, outcome, detail: t(text, { ...values, off }), timing }
  })
  const outcome = (['failed', 'warning'] as const).find((worst) => checks.some((check) => check.outcome === worst))
  return { outcome: outcome ?? 'ok', checks }
}

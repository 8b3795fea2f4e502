import { parsedUrl } from '../../platform/lib/parsed-url.ts'
import { isLoopbackHost, NOT_IN_URLS } from '../../platform/lib/web/web-url.ts'
import { hasResponseParameters, hostMatches } from '../registry/index.ts'

/** Where the answer of the authorization page may go (REFERENCE "Redirect URI"). */

/** The registered fields that decide which redirect URIs a micro-app may use. */
export interface RedirectRules {
  /** `host`, `host:port` or `*.host`, as the registry keeps them. */
  readonly hosts: readonly string[]
  /** If not empty, exactly these URIs are allowed and `hosts` does not count. */
  readonly redirect_uris: readonly string[]
  readonly http_allowed: boolean
}

const AUTHORITY = /^https?:\/\/([^/?#]+)/i

const hasForbiddenForm = (text: string): boolean => {
  if (NOT_IN_URLS.test(text)) return true
  const authority = AUTHORITY.exec(text)?.[1]
  return authority === undefined || authority.includes('@') || authority.includes('%')
}

/** What is wrong with a URI on a registered host: `mismatch` would send its developer looking at the registration. */
type WrongForm = 'has-fragment' | 'has-answer'

const wrongForm = (text: string): WrongForm | undefined => {
  if (text.includes('#')) return 'has-fragment'
  return hasResponseParameters(text) ? 'has-answer' : undefined
}

const isOfPinnedHost = (pinned: readonly string[], { protocol, host }: URL): boolean =>
  pinned.some((uri) => {
    const known = new URL(uri)
    return known.protocol === protocol && known.host === host
  })

/** The parsed URI, or why the app may not use it. */
export function checkRedirectUri(text: string, app: RedirectRules): URL | 'not-a-url' | 'mismatch' | WrongForm {
  const url = parsedUrl(text)
  if (!url) return 'not-a-url'
  if (hasForbiddenForm(text)) return 'mismatch'
  if (url.protocol === 'http:' && !app.http_allowed && !isLoopbackHost(url.hostname)) return 'mismatch'
  const wrong = wrongForm(text)
  const pinned = app.redirect_uris
  if (pinned.length === 0) return app.hosts.some((entry) => hostMatches(entry, url)) ? (wrong ?? url) : 'mismatch'
  if (wrong && isOfPinnedHost(pinned, url)) return wrong
  return pinned.includes(text) ? url : 'mismatch'
}

/**
 * Adds the response to the query of a checked URI, which is not normalised: only what a Location header cannot carry becomes
 * punycode or percent-encoded UTF-8.
 */
export function withResponseParameters(redirectUri: string, answer: Readonly<Record<string, string>>): string {
  const target = asciiOnly(redirectUri)
  const added = new URLSearchParams(answer).toString()
  if (added === '') return target
  const query = target.indexOf('?')
  if (query < 0) return `${target}?${added}`
  const nothingToSeparate = query === target.length - 1 || target.endsWith('&')
  return nothingToSeparate ? `${target}${added}` : `${target}&${added}`
}

const isAscii = (text: string): boolean => /^[ -~]*$/.test(text)

const asciiOnly = (text: string): string =>
  text
    .replace(AUTHORITY, (authority) => (isAscii(authority) ? authority : new URL(authority).origin))
    .replace(/[^ -~]+/g, encodeURIComponent)

import Negotiator from 'negotiator'

/** Only this much of these headers is read: browsers send some hundred characters. A truncated entry is ignored. */
const READ_CHARACTERS = 1_024

function beginningOf(header: string): string {
  if (header.length <= READ_CHARACTERS) return header
  return header.slice(0, Math.max(0, header.lastIndexOf(',', READ_CHARACTERS)))
}

/** Whitespace is removed: negotiator 1.0.0 misses the weight in `en; q=0.5`. */
const plain = (header: string): string => beginningOf(header).replace(/\s+/g, '').toLowerCase()

/** The media types of an Accept header in lower case, preferred first, without refused ones (`q=0`). */
export const acceptedTypes = (accept = ''): string[] =>
  new Negotiator({ headers: { accept: plain(accept) } }).mediaTypes()

/** The languages of an Accept-Language header in lower case, preferred first, without refused ones (`q=0`). */
export const acceptedLanguages = (acceptLanguage = ''): string[] =>
  new Negotiator({ headers: { 'accept-language': plain(acceptLanguage) } }).languages()

const PAGE = new Set(['text/html', 'application/xhtml+xml', 'text/*'])
const JSON_LIKE = new Set(['application/json', 'application/*', '*/*'])

/** Whether the caller is a browser that wants a page; `*` + `/*` (curl, most HTTP clients) gets JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  const first = acceptedTypes(accept).find((type) => PAGE.has(type) || JSON_LIKE.has(type))
  return first !== undefined && PAGE.has(first)
}

/** Paths that only programs request. On all others, even unknown ones, a person may see a page. */
const FOR_PROGRAMS = [
  /^\/oauth\/v2\/api\//,
  /^\/oauth2\/(?:token|revoke|introspect|userinfo|par|jwks)/,
  /^\/(?:\.well-known|admin)\//,
  /^[^?]*\/(?:mtp|sandbox)\/api(?:[/?]|$)/,
]

/** Whether to answer with a page. Never on programs' paths, because Java's HTTP client prefers html by default. */
export const wantsPage = (url: string, accept: string | undefined): boolean =>
  accept?.includes('html') === true && !FOR_PROGRAMS.some((paths) => paths.test(url)) && prefersHtml(accept)

import Negotiator from 'negotiator'

/** Only this much of these headers is read: browsers send some hundred characters. An entry that is cut is ignored. */
const READ_CHARACTERS = 1_024

function beginningOf(header: string): string {
  if (header.length <= READ_CHARACTERS) return header
  return header.slice(0, Math.max(0, header.lastIndexOf(',', READ_CHARACTERS)))
}

/** Without whitespace: negotiator 1.0.0 overlooks the weight in `en; q=0.5`. */
const plain = (header: string): string => beginningOf(header).replace(/\s+/g, '').toLowerCase()

/** The media types of an Accept header, lower-cased, most wanted first; refused ones (`q=0`) left out. */
export const acceptedTypes = (accept = ''): string[] =>
  new Negotiator({ headers: { accept: plain(accept) } }).mediaTypes()

/** The languages of an Accept-Language header, lower-cased, most wanted first; refused ones (`q=0`) left out. */
export const acceptedLanguages = (acceptLanguage = ''): string[] =>
  new Negotiator({ headers: { 'accept-language': plain(acceptLanguage) } }).languages()

const PAGE = new Set(['text/html', 'application/xhtml+xml', 'text/*'])
const JSON_LIKE = new Set(['application/json', 'application/*', '*/*'])

/** Whether the caller is a browser that wants a page; `*` + `/*` (curl, most HTTP clients) gets JSON. */
export function prefersHtml(accept: string | undefined): boolean {
  const first = acceptedTypes(accept).find((type) => PAGE.has(type) || JSON_LIKE.has(type))
  return first !== undefined && PAGE.has(first)
}

/** Paths that programs alone ask; at others, also such as do not exist, a person may look at a page. */
const FOR_PROGRAMS = [
  /^\/oauth\/v2\/api\//,
  /^\/oauth2\/(?:token|revoke|introspect|userinfo|par|jwks)/,
  /^\/(?:\.well-known|admin)\//,
  /^[^?]*\/(?:mtp|sandbox)\/api(?:[/?]|$)/,
]

/** Whether an answer is a page. What a program asks for never is: Java's own client prefers html unless it is told otherwise. */
export const wantsPage = (url: string, accept: string | undefined): boolean =>
  accept?.includes('html') === true && !FOR_PROGRAMS.some((paths) => paths.test(url)) && prefersHtml(accept)

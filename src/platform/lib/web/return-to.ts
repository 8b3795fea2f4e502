import type { FastifyRequest } from 'fastify'
import { parsedUrl } from '../parsed-url.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the purpose
const LOCAL_PATH = /^\/(?![/\\])[^\u0000-\u001f\u007f\\]*$/
const LONGEST = 8 * 1024

/** The path on this service to which the browser returns; `/` for anything that could lead elsewhere. */
export function localPath(returnTo: string | undefined, publicUrl: string): string {
  if (returnTo === undefined || returnTo.length > LONGEST || !LOCAL_PATH.test(returnTo)) return '/'
  const url = parsedUrl(returnTo, publicUrl)
  if (!url) return '/'
  const { origin, pathname, search, hash } = url
  const path = pathname + search + hash
  // Normalising can bring a second slash to the front: `/.//evil.example`.
  return origin === new URL(publicUrl).origin && !path.startsWith('//') ? path : '/'
}

/** What the address of a page says of an earlier form: it must not be shown again for another one. */
const OUTCOMES = ['done', 'refused', 'withdrawn']

/** Path and query of the page that sent the form (Referer); undefined without one, and for another origin's. */
export function refererPath({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: string): string | undefined {
  const from = headers.referer === undefined ? undefined : parsedUrl(headers.referer)
  if (from?.origin !== new URL(publicUrl).origin) return undefined
  for (const outcome of OUTCOMES) from.searchParams.delete(outcome)
  return localPath(from.pathname + from.search, publicUrl)
}

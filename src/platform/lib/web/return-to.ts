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

/** The page whose form this is, where the browser says so. What comes from elsewhere is no form of ours. */
export function formPage({ headers }: Pick<FastifyRequest, 'headers'>, publicUrl: string): string | undefined {
  const from = headers.referer === undefined ? undefined : parsedUrl(headers.referer)
  if (from?.origin !== new URL(publicUrl).origin) return undefined
  return localPath(from.pathname + from.search, publicUrl)
}

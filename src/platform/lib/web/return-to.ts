import type { FastifyReply, FastifyRequest } from 'fastify'
import { parsedUrl } from '../parsed-url.ts'
import { NO_STORE_HEADERS } from './envelope.ts'

// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is the purpose
const LOCAL_PATH = /^\/(?![/\\])[^\u0000-\u001f\u007f\\]*$/
const MAX_LENGTH = 8 * 1024

/** A path on this service to return to; `/` for anything that could lead elsewhere. */
export function localPath(returnTo: string | undefined, publicUrl: string): string {
  if (returnTo === undefined || returnTo.length > MAX_LENGTH || !LOCAL_PATH.test(returnTo)) return '/'
  const url = parsedUrl(returnTo, publicUrl)
  if (!url) return '/'
  const { origin, pathname, search, hash } = url
  const path = pathname + search + hash
  // Normalising can bring a second slash to the front: `/.//evil.example`.
  return origin === new URL(publicUrl).origin && !path.startsWith('//') ? path : '/'
}

/** Where a page says that its form was not sent, and a script gives back what was typed (views/assets/send-once.js). */
const UNSENT = '#unsent'

/** Where a sign-in leads back to: this page or, for a form, its page, which says that nothing was sent. */
export const afterSignIn = ({ method }: Pick<FastifyRequest, 'method'>, page: string): string =>
  method === 'GET' ? page : page + UNSENT

/** `returnTo` if it is this page or below it, otherwise this page. */
export function pathBelow(page: string, returnTo: string | undefined, publicUrl: string): string {
  const path = localPath(returnTo, publicUrl)
  return path.startsWith(page) && /^(?:[/?#]|$)/.test(path.slice(page.length)) ? path : page
}

interface SignInPage {
  readonly signIn: string
  readonly page: string
  readonly session: string | undefined
}

/** The address of a sign-in page, which leads back to `page` and says if a session has ended or a form was not sent. */
export function signInAddress({ method }: FastifyRequest, { signIn, page, session }: SignInPage): string {
  const query = new URLSearchParams({ return_to: afterSignIn({ method }, page) })
  if (session !== undefined || method !== 'GET') query.set('ended', '1')
  return `${signIn}?${query}`
}

export const leadToSignIn = (request: FastifyRequest, reply: FastifyReply, to: SignInPage): FastifyReply =>
  reply.headers(NO_STORE_HEADERS).redirect(signInAddress(request, to), request.method === 'GET' ? 302 : 303)

/** Parameters that report the outcome of an earlier form, and must not be repeated for the next. */
const OUTCOMES = ['done', 'refused', 'withdrawn']

/** This page or, for a form, the one that sent it (Referer); `otherwise` without one, or if it is of another origin. */
export function pageOf(
  { method, url, headers }: Pick<FastifyRequest, 'method' | 'url' | 'headers'>,
  publicUrl: string,
  otherwise: string,
): string {
  if (method === 'GET') return url
  const from = headers.referer === undefined ? undefined : parsedUrl(headers.referer)
  if (from?.origin !== new URL(publicUrl).origin) return otherwise
  for (const outcome of OUTCOMES) from.searchParams.delete(outcome)
  return localPath(from.pathname + from.search, publicUrl)
}

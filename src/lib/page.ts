import { fileURLToPath } from 'node:url'
import fastifyView from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { prefersHtml } from './accept.ts'
import { serveAssets } from './assets.ts'
import { AREA_A_HEADERS, envelopeErrorHandler, prepareFailure } from './envelope.ts'
import { chooseLocale, inMinutes, type Locale, languageLinks, supportedLocale, translator } from './locale.ts'
import { parseQuery, queryOf } from './query-string.ts'
import type { RescodeError } from './rescode.ts'

const VIEWS = fileURLToPath(new URL('../../views', import.meta.url))
const LANGUAGE_COOKIE = 'gatehouse_lang'
const YEAR_S = 31_536_000

/** Views (eta, views/) and their assets; called once, before the rooms. */
export async function registerPages(app: FastifyInstance): Promise<void> {
  const asset = await serveAssets(app)
  await app.register(fastifyView, {
    engine: { eta: new Eta({ views: VIEWS, cache: true }) },
    templates: VIEWS,
    production: true,
    defaultContext: { asset },
  })
}

const askedLanguages = (request: FastifyRequest): string | undefined =>
  parseQuery(queryOf(request.url)).values.get('ui_locales')

/** The language of whoever sits at this browser: `ui_locales`, else what was chosen earlier, else Accept-Language. */
export const localeOfRequest = (request: FastifyRequest): Locale =>
  chooseLocale({
    asked: askedLanguages(request),
    cookie: request.cookies?.[LANGUAGE_COOKIE],
    acceptLanguage: request.headers['accept-language'],
  })

/** A language that was chosen by a link stays chosen. */
function rememberLanguage(request: FastifyRequest, reply: FastifyReply): void {
  const chosen = supportedLocale(askedLanguages(request)?.split(' ') ?? [])
  if (!chosen) return
  reply.setCookie(LANGUAGE_COOKIE, chosen, {
    path: '/',
    maxAge: YEAR_S,
    sameSite: 'lax',
    httpOnly: true,
    secure: 'auto',
  })
}

/** Nothing inline, ever, and no script unless asked. Chromium holds the redirect after a form post against form-action too. */
const contentSecurityPolicy = ({ formAction = [], scripts = false }: PageOptions): string =>
  [
    "default-src 'none'",
    ...(scripts ? ["script-src 'self'", "connect-src 'self'"] : []),
    "style-src 'self'",
    "img-src 'self' https: data:",
    ['form-action', "'self'", ...formAction].join(' '),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export interface PageOptions {
  /** Where forms of the page may lead besides ourselves, as CSP writes sources: `https://app.example`. */
  readonly formAction?: readonly string[]
  /** The query that shows this page again by GET, for the language links of a page that answers a POST. */
  readonly query?: string
  /** Whether scripts of ours (files in views/assets) may run and call us. */
  readonly scripts?: boolean
}

/** Renders a view inside the layout in the reader's language; it finds its texts as `it.t`. The status is the caller's. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  view: string,
  data: object,
  options: PageOptions = {},
): Promise<FastifyReply> {
  const locale = localeOfRequest(request)
  const query = options.query ?? (request.method === 'GET' ? queryOf(request.url) : undefined)
  const languages = query === undefined ? [] : languageLinks(query)
  const html = await reply.viewAsync(view, { ...data, t: translator(locale), locale, languages })
  rememberLanguage(request, reply)
  return reply
    .headers({
      ...AREA_A_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy(options),
      'Cross-Origin-Opener-Policy': 'same-origin',
      'X-Frame-Options': 'DENY',
    })
    .send(html)
}

/** A failure: as a page for a browser, as the envelope for everybody else. */
export async function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  error: RescodeError,
  native: boolean,
): Promise<FastifyReply> {
  if (!prefersHtml(request.headers.accept)) {
    envelopeErrorHandler(native)(error, request, reply)
    return reply
  }
  prepareFailure(error, request, reply, native)
  const wait = error.failure.status === 429 ? error.failure.headers?.['Retry-After'] : undefined
  const retry = wait && inMinutes(localeOfRequest(request), Number(wait))
  return sendPage(request, reply, 'error', {
    rescode: error.rescode,
    message: error.message,
    retry,
    requestId: request.id,
    returnTo: request.method === 'GET' ? request.url : '/',
  })
}

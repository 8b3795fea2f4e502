import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import fastifyView from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import helmet from 'helmet'
import { secondsUntil } from '../clock.ts'
import type { Detail } from '../localized-text.ts'
import { ROOT } from '../root.ts'
import { utcTime } from '../time-zone.ts'
import { wantsPage } from './accept.ts'
import { serveAssets } from './assets.ts'
import { NO_STORE_HEADERS, prepareFailure, sendFailure } from './envelope.ts'
import { FORM_OWNER } from './form-owner.ts'
import { formToResend } from './forms.ts'
import {
  chooseLocale,
  inMinutes,
  type Locale,
  languageLinks,
  pageTranslator,
  supportedLocale,
  type Translate,
} from './locale.ts'
import { methodAsSent } from './methods.ts'
import { type OwnCookie, ownCookie } from './own-cookie.ts'
import { parseQuery, queryOf } from './request-target.ts'
import { type FailureAnswer, unavailable } from './rescode.ts'
import { worded } from './worded.ts'

const VIEWS = fileURLToPath(new URL('views', ROOT))
const YEAR_S = 31_536_000

declare module 'fastify' {
  interface FastifyInstance {
    languageCookie: OwnCookie
  }
}

/** Registers views (eta, views/), their assets and the language cookie; call once, before the rooms. */
export async function registerPages(app: FastifyInstance, publicUrl: string): Promise<void> {
  app.decorate('languageCookie', ownCookie(publicUrl, { name: 'gatehouse_lang', maxAgeS: YEAR_S }))
  app.decorateRequest('formOwner', null)
  const asset = await serveAssets(app)
  await app.register(fastifyView, {
    engine: { eta: new Eta({ views: VIEWS, cache: true }) },
    templates: VIEWS,
    production: true,
    defaultContext: { asset, utcTime },
  })
}

const askedLanguages = (request: FastifyRequest): string | undefined =>
  parseQuery(queryOf(request.url)).values.get('ui_locales')

/** The reader's language: `ui_locales`, else the one chosen earlier, else Accept-Language. */
export const localeOfRequest = (request: FastifyRequest): Locale =>
  chooseLocale({
    asked: askedLanguages(request),
    // Null if a hook refuses the request before cookies are parsed.
    cookie: request.cookies ? request.server.languageCookie.read(request) : undefined,
    acceptLanguage: request.headers['accept-language'],
  })

export const textsFor = (request: FastifyRequest): Translate => pageTranslator(localeOfRequest(request))

/** Sets 429 with Retry-After for a page. Returns the waiting time in the reader's language. */
export function retryAfter(request: FastifyRequest, reply: FastifyReply, until: Date, now: Date): string {
  const seconds = Math.max(1, secondsUntil(until, now))
  reply.code(429).header('Retry-After', String(seconds))
  return inMinutes(localeOfRequest(request), seconds)
}

/** Remembers a language that was chosen by a link. */
function rememberLanguage(request: FastifyRequest, reply: FastifyReply): void {
  const chosen = supportedLocale(askedLanguages(request)?.split(' ') ?? [])
  if (chosen && methodAsSent(request) !== 'HEAD') request.server.languageCookie.set(reply, chosen)
}

/**
 * Nothing inline, ever. Scripts only on request, or on pages with times or forms, where ours localize the times and keep
 * forms from being sent twice. Chromium also checks every redirect after a form post against form-action, and we do not
 * know where an app sends the browser on, so pages that lead outside have none. Nor do they have
 * Cross-Origin-Opener-Policy, which would cut off a window from the app that opened it.
 * Set per page, on the raw response, since the hooks of @fastify/helmet would run for every request.
 */
const securityHeaders = ({ leadsOutside = false, scripts = false }: PageOptions, hasOwnScripts = false) =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': "'none'",
        ...(scripts || hasOwnScripts ? { 'script-src': "'self'" } : {}),
        ...(scripts ? { 'connect-src': "'self'" } : {}),
        'style-src': "'self'",
        'font-src': "'self'",
        'img-src': ["'self'", 'https:', 'data:'],
        ...(leadsOutside ? {} : { 'form-action': "'self'" }),
        'base-uri': "'none'",
        'frame-ancestors': "'none'",
      },
    },
    crossOriginOpenerPolicy: !leadsOutside,
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: false, // on every answer, not only on pages (https-only.ts)
  })

function throwIfAny(error: unknown): void {
  if (error) throw error
}

const PAGE_HEADERS = {
  ...NO_STORE_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Permissions-Policy':
    'camera=(), display-capture=(), fullscreen=(), geolocation=(), microphone=(), midi=(), payment=(), serial=(), usb=()',
} as const

export interface PageOptions {
  /** Whether a form or link may lead to another site, directly or by redirects (DECISIONS "Decided about area A"). */
  readonly leadsOutside?: boolean
  /** For a page that answers a POST: the query that shows it again by GET. Without it there are no language links. */
  readonly query?: string
  /** Whether our scripts (files in views/assets) may run and send requests to us. */
  readonly scripts?: boolean
}

/** Renders a view inside the layout in the reader's language, with its texts as `it.t`. The caller sets the status. */
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
  const shown = { ...data, t: pageTranslator(locale), locale, languages }
  const html = FORM_OWNER.addOwnerField(await reply.viewAsync(view, shown), request.formOwner)
  rememberLanguage(request, reply)
  securityHeaders(options, /<time |<form\b[^>]* method="post"/.test(html))(request.raw, reply.raw, throwIfAny)
  return reply.headers(PAGE_HEADERS).send(html)
}

const ID_PLACEHOLDER = 'the-id-of-the-request'

/** The page for requests that are refused for load, rendered once per language to keep refusals cheap. */
export function busyPage(app: FastifyInstance) {
  const pages = new Map<Locale, Promise<string>>()
  const render = (locale: Locale): Promise<string> => {
    const { rescode, text } = unavailable()
    const t = pageTranslator(locale)
    const data = { rescode, message: worded(text, t), busy: true, requestId: ID_PLACEHOLDER, returnTo: '/', t, locale }
    return app.view('error', { ...data, languages: [] })
  }
  return async (request: IncomingMessage, response: ServerResponse, locale: Locale, id: string): Promise<string> => {
    const page = pages.get(locale) ?? render(locale)
    pages.set(locale, page)
    page.catch(() => pages.delete(locale)) // the next request tries again
    const html = await page
    securityHeaders({})(request, response, throwIfAny)
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value)
    return html.replace(ID_PLACEHOLDER, id)
  }
}

const FAILURES = '/developer/failures'

/** The page on which developers read why a request of their app was refused; null if this service has no such pages. */
const failurePage = ({ id, url, server }: FastifyRequest): string | null =>
  /^\/oauth2?\//.test(url) && server.allowedMethods(FAILURES).length > 0 ? `${FAILURES}?request_id=${id}` : null

/** Sends a failure as a page to browsers, as the envelope to all other callers. */
export async function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  error: FailureAnswer,
  native: boolean,
): Promise<FastifyReply> {
  if (!wantsPage(request.url, request.headers.accept)) {
    sendFailure(error, request, reply, native)
    return reply
  }
  prepareFailure(error, request, reply, native)
  return sendFailurePage(request, reply, error)
}

/** The page about a failure; its status and headers have been set. `code`: its name in OAuth 2.0, without a rescode. */
export function sendFailurePage(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    rescode,
    text,
    failure,
  }: Omit<FailureAnswer, 'message' | 'status' | 'text'> & {
    readonly text: Detail
  },
  code?: string,
): Promise<FastifyReply> {
  const { name, byApp, headers } = failure
  const wait = reply.statusCode === 429 ? headers?.['Retry-After'] : undefined
  const typed = formToResend(request, failure)
  const data = {
    rescode,
    code,
    byApp,
    message: worded(text, textsFor(request)),
    retry: wait && inMinutes(localeOfRequest(request), Number(wait)),
    busy: reply.statusCode === 503,
    missing: reply.statusCode === 404,
    typed,
    action: request.url,
    failure: name,
    failurePage: failurePage(request),
    requestId: request.id,
    returnTo: request.method === 'GET' ? request.url : '/',
  }
  // That page has a form for signing out, or the one that was sent.
  const hasForm = name === 'app_in_development' || rescode === 20016 || typed !== null
  return sendPage(request, reply, 'error', data, { leadsOutside: hasForm })
}

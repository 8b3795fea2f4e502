import type { IncomingMessage, ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import fastifyView from '@fastify/view'
import { Eta } from 'eta'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import helmet from 'helmet'
import { secondsUntil } from '../clock.ts'
import { ROOT } from '../root.ts'
import { utcTime } from '../time-zone.ts'
import { wantsPage } from './accept.ts'
import { serveAssets } from './assets.ts'
import { NO_STORE_HEADERS, prepareFailure, sendFailure } from './envelope.ts'
import { FORM_OWNER } from './form-owner.ts'
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
    /** The language that a reader has chosen. */
    languageCookie: OwnCookie
  }
}

/** Views (eta, views/), their assets and the language cookie; called once, before the rooms. */
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

/** The language of the reader: `ui_locales`, else what was chosen earlier, else Accept-Language. */
export const localeOfRequest = (request: FastifyRequest): Locale =>
  chooseLocale({
    asked: askedLanguages(request),
    // Null where a hook that runs before the cookies' refuses the request.
    cookie: request.cookies ? request.server.languageCookie.read(request) : undefined,
    acceptLanguage: request.headers['accept-language'],
  })

/** The texts in the language of who asks. */
export const textsFor = (request: FastifyRequest): Translate => pageTranslator(localeOfRequest(request))

/** Sets 429 with Retry-After, for a page. Returns when it may be tried again, in the reader's language. */
export function retryAfter(request: FastifyRequest, reply: FastifyReply, until: Date, now: Date): string {
  const seconds = Math.max(1, secondsUntil(until, now))
  reply.code(429).header('Retry-After', String(seconds))
  return inMinutes(localeOfRequest(request), seconds)
}

/** A language that was chosen by a link stays chosen. */
function rememberLanguage(request: FastifyRequest, reply: FastifyReply): void {
  if (methodAsSent(request) === 'HEAD') return
  const chosen = supportedLocale(askedLanguages(request)?.split(' ') ?? [])
  if (!chosen) return
  request.server.languageCookie.set(reply, chosen)
}

/**
 * Nothing inline, ever, and no script unless asked, or for the times on the page and its forms, which are sent once. Chromium holds every redirect after a form post against form-action too,
 * and where an app sends the browser on is not ours to know: pages that lead outside do without. So they do without
 * Cross-Origin-Opener-Policy, which would part a window that an app has opened from that app for good.
 * Set by the page that is sent, on the answer itself: the plugin @fastify/helmet has hooks that run for every request.
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
    strictTransportSecurity: false, // each answer says it, not pages alone (https-only.ts)
  })

function throwIfAny(error: unknown): void {
  if (error) throw error
}

/** Disables the browser features that a page could request. */
const PERMISSIONS =
  'camera=(), display-capture=(), fullscreen=(), geolocation=(), microphone=(), midi=(), payment=(), serial=(), usb=()'

const PAGE_HEADERS = {
  ...NO_STORE_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Permissions-Policy': PERMISSIONS,
} as const

export interface PageOptions {
  /** Whether an app may have led the browser here, to go on from here to another site: by a form or a link, at once or by way of redirects (DECISIONS "Decided about area A"). */
  readonly leadsOutside?: boolean
  /** The query that shows this page again by GET, for the language links of a page that answers a POST; none where something is shown once. */
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
  const shown = { ...data, t: pageTranslator(locale), locale, languages }
  const html = FORM_OWNER.addOwnerField(await reply.viewAsync(view, shown), request.formOwner)
  rememberLanguage(request, reply)
  securityHeaders(options, /<time |<form\b[^>]* method="post"/.test(html))(request.raw, reply.raw, throwIfAny)
  return reply.headers(PAGE_HEADERS).send(html)
}

const ID = 'the-id-of-the-request'

/** The page for requests that are refused for load. It is rendered once for each language: what is refused has to be cheap. */
export function busyPage(app: FastifyInstance) {
  const pages = new Map<Locale, Promise<string>>()
  const render = (locale: Locale): Promise<string> => {
    const { rescode, text } = unavailable()
    const t = pageTranslator(locale)
    const data = { rescode, message: worded(text, t), busy: true, requestId: ID, returnTo: '/', t, locale }
    return app.view('error', { ...data, languages: [] })
  }
  return async (request: IncomingMessage, response: ServerResponse, locale: Locale, id: string): Promise<string> => {
    const page = pages.get(locale) ?? render(locale)
    pages.set(locale, page)
    page.catch(() => pages.delete(locale)) // so that the next one tries again
    const html = await page
    securityHeaders({})(request, response, throwIfAny)
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value)
    return html.replace(ID, id)
  }
}

const FAILURES = '/developer/failures'

/** Where developers read why a request of their app was refused; nowhere if this service has no such pages. */
export const failurePage = ({ id, url, server }: FastifyRequest): string | null =>
  /^\/oauth2?\//.test(url) && server.allowedMethods(FAILURES).length > 0 ? `${FAILURES}?request_id=${id}` : null

/** A failure: as a page for a browser, as the envelope for everybody else. */
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
  const wait = error.failure.status === 429 ? error.failure.headers?.['Retry-After'] : undefined
  const retry = wait && inMinutes(localeOfRequest(request), Number(wait))
  const data = {
    rescode: error.rescode,
    byApp: error.failure.byApp,
    message: worded(error.text, textsFor(request)),
    retry,
    busy: error.failure.status === 503,
    missing: error.failure.status === 404,
    failure: error.failure.name,
    failurePage: failurePage(request),
    requestId: request.id,
    returnTo: request.method === 'GET' ? request.url : '/',
  }
  // Who cannot go on as they are find a form there, to sign out.
  const signsOut = data.failure === 'app_in_development' || error.rescode === 20016
  return sendPage(request, reply, 'error', data, { leadsOutside: signsOut })
}

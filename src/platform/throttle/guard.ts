import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import type { Config } from '../config/index.ts'
import type { Deps } from '../deps.ts'
import type { RateLimiter } from '../lib/rate-limiter.ts'
import { failureAnswerOf } from '../lib/web/envelope.ts'
import { acceptForms, refuseForeignForms } from '../lib/web/forms.ts'
import { noteForLog } from '../lib/web/observe.ts'
import { retryAfter, sendErrorPage, textsFor } from '../lib/web/page.ts'
import { tooManyRequests } from '../lib/web/rescode.ts'
import { networkOf, SITE_FACTOR, siteOf } from './network.ts'
import { SignInRefused } from './sign-in.ts'

const MINUTE_S = 60

declare module 'fastify' {
  interface FastifyInstance {
    /** The counts of `limitRate`, shared by all processes of the database. */
    readonly rateLimiter: RateLimiter
  }
}

interface RequestLimit {
  /** What is counted, such as `signature test`; limits of the same kind share a count. */
  readonly kind: string
  readonly perMinute: number | ((request: FastifyRequest) => number)
  /** Groups requests; by default by network, and for IPv6 also by site. */
  readonly by?: (request: FastifyRequest) => string
  /** Makes the error to throw; `seconds` until the window ends. */
  readonly refuse: (seconds: number) => Error
}

export function limitRate(app: FastifyInstance, limit: RequestLimit): onRequestAsyncHookHandler {
  const { kind, perMinute, by, refuse } = limit
  const count = (most: number, subject: string) => ({
    most,
    ...app.rateLimiter.count({ kind, most, windowS: MINUTE_S }, subject),
  })
  return async (request, reply) => {
    const most = typeof perMinute === 'number' ? perMinute : perMinute(request)
    const own = count(most, by ? by(request) : networkOf(request.ip))
    // A request that is refused anyway is not charged to the site, which neighbours share.
    const site = by === undefined && !own.exceeded ? siteOf(request.ip) : undefined
    const bySite = site === undefined ? own : count(SITE_FACTOR * most, site)
    const counted = bySite.exceeded ? bySite : own
    const seconds = Math.ceil(counted.endsInMs / 1000)
    reply.headers({
      'x-ratelimit-limit': counted.most,
      'x-ratelimit-remaining': Math.max(0, counted.most - counted.uses),
      'x-ratelimit-reset': seconds,
    })
    if (counted.exceeded) throw refuse(Math.max(1, seconds))
  }
}

/** Limits page requests, including those for missing pages; well above what a person opens in a minute. */
export const limitPages = (app: FastifyInstance, { PAGES_PER_MINUTE }: Config): onRequestAsyncHookHandler =>
  limitRate(app, { kind: 'page', perMinute: PAGES_PER_MINUTE, refuse: tooManyRequests })

const FORM_LIMIT = 16 * 1024

/** Set-up of all HTML pages: same-origin forms of at most `limit` bytes, a rate limit, errors as pages. */
export async function preparePages(
  app: FastifyInstance,
  config: Config,
  { limit = FORM_LIMIT, ...holder }: { readonly limit?: number; readonly holder?: string } = {},
): Promise<void> {
  await acceptForms(app, limit, holder)
  app.addHook('onRequest', limitPages(app, config))
  app.addHook('onRequest', refuseForeignForms(config.PUBLIC_URL))
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), true))
}

/** The text for a refused sign-in, whose status it sets. Rethrows anything but SignInRefused. */
export function signInAlert(
  { clock }: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
  { wrong, limited = 'sign_in.limited' }: { readonly wrong: string; readonly limited?: string },
): string {
  if (!(thrown instanceof SignInRefused)) throw thrown
  noteForLog(request, { detail: thrown.message })
  const t = textsFor(request)
  const { retryAt } = thrown
  if (retryAt) return t(limited, { when: retryAfter(request, reply, retryAt, clock.now()) })
  reply.code(403)
  return t(wrong)
}

import type { FastifyReply, FastifyRequest, preValidationAsyncHookHandler } from 'fastify'
import type { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { prefersHtml } from '../../platform/lib/web/accept.ts'
import { failureAnswerOf, prepareFailure } from '../../platform/lib/web/envelope.ts'
import { formToResend } from '../../platform/lib/web/forms.ts'
import { inMinutes } from '../../platform/lib/web/locale.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { localeOfRequest, type PageOptions, sendErrorPage, sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { leadToSignIn } from '../../platform/lib/web/return-to.ts'
import { BY_CLIENT_SECRET } from '../../ticketing/members/index.ts'
import { sessionEnded } from './errors.ts'
import { findPartnerSession, type SignedInPartner, sessionCookie } from './session.ts'
import { detailText } from './texts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    partner: SignedInPartner | null
  }
}

export const HOME = '/sandbox'
const SIGN_IN = `${HOME}/sign-in`

/** Parses the path parameters; throws `notFound` if they are invalid. */
export function paramsOf<Schema extends z.ZodType>(
  { params }: FastifyRequest,
  schema: Schema,
  notFound: () => Error,
): z.output<Schema> {
  const read = schema.safeParse(params)
  if (!read.success) throw notFound()
  return read.data
}

export function partnerOf({ partner }: FastifyRequest): SignedInPartner {
  if (!partner) throw new Error('the route is not behind the sandbox session')
  return partner
}

/** The audit log names the signed-in person for changes made with these dependencies. */
export const onBehalfOf = <Given extends Deps>(deps: Given, request: FastifyRequest): Given => ({
  ...deps,
  actor: actorOf(request, 'partner', partnerOf(request).memberId ?? BY_CLIENT_SECRET),
})

/** A preValidation hook after `signedInOnly`: members who are not owners get a page that says so. */
export const ownersOnly: preValidationAsyncHookHandler = async (request, reply) => {
  if (partnerOf(request).role === 'owner') return
  noteForLog(request, { detail: 'not an owner' })
  return sendSandboxPage(request, reply.code(403), 'sandbox/owners-only', {})
}

/**
 * A preValidation hook: a browser without a session is sent to the sign-in page, and afterwards back. A form posted after
 * the session ended has no effect; its page is shown again. Scripts, which cannot follow redirects, get 401. Forms are
 * read before it, so that the page that says that the database is away can give back what was typed.
 */
export const signedInOnly = (deps: Deps): preValidationAsyncHookHandler => {
  const cookie = sessionCookie(deps.config)
  return async (request, reply) => {
    const session = cookie.read(request)
    request.partner = await findPartnerSession(deps, session)
    if (request.partner) {
      noteForLog(request, { partnerId: String(request.partner.partnerId) })
      return
    }
    if (/^(?:text\/event-stream|application\/json)\b/.test(request.headers.accept ?? '')) throw sessionEnded()
    return leadToSignIn(request, reply, { signIn: SIGN_IN, page: pageOf(request), session })
  }
}

/** A request's own URL, or for a form the nearest parent with a page (`/sandbox/run/7/start` → `…/7`). */
function pageOf({ method, url, server, routeOptions }: FastifyRequest): string {
  if (method === 'GET') return url
  const pattern = (routeOptions.url ?? '').split('/')
  const path = (url.split('?', 1)[0] ?? '').split('/')
  for (let length = pattern.length; length > 2; length--) {
    const candidate = pattern.slice(0, length).join('/')
    if (server.hasRoute({ method: 'GET', url: candidate })) return path.slice(0, length).join('/')
  }
  return HOME
}

/** Runs `work` once the client has disconnected, at once if it already has. */
export function onDisconnect({ raw }: FastifyReply, work: () => void): void {
  if (raw.closed) work()
  else raw.once('close', work)
}

/** The pages in the navigation. */
type Section = 'home' | 'signature' | 'functions' | 'run' | 'history' | 'play' | 'traffic' | 'docs' | 'members'

export interface SandboxPageOptions extends Omit<PageOptions, 'scripts'> {
  /** Marked as current in the navigation. */
  readonly section?: Section
  /** File names in views/assets. */
  readonly scripts?: readonly string[]
}

/** Renders a view in `/sandbox/layout`; navigation and partner are shown once signed in. */
export function sendSandboxPage(
  request: FastifyRequest,
  reply: FastifyReply,
  view: string,
  data: object,
  { section = 'home', scripts = [], ...options }: SandboxPageOptions = {},
): Promise<FastifyReply> {
  const shown = { ...data, section, scripts, partner: request.partner }
  return sendPage(request, reply, view, shown, { ...options, scripts: scripts.length > 0 })
}

/** Renders an error as a page with a link back and its native HTTP status; as JSON for scripts. */
export async function sendSandboxError(
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
): Promise<FastifyReply> {
  const error = failureAnswerOf(thrown, request)
  if (!prefersHtml(request.headers.accept)) return sendErrorPage(request, reply, error, true)
  prepareFailure(error, request, reply, true)
  const status = error.status(true)
  const wait = Number(error.failure.headers?.['Retry-After'] ?? 0)
  const shown = {
    status: Math.min(status, 500), // 503 reads the same
    message: detailText(error.text, textsFor(request)),
    wait: inMinutes(localeOfRequest(request), wait),
    requestId: request.id,
    typed: formToResend(request, error.failure),
    action: request.url,
  }
  return sendSandboxPage(request, reply, 'sandbox/error', shown)
}

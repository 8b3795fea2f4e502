import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler, preValidationAsyncHookHandler } from 'fastify'
import type { Config } from '../../platform/config/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { prefersHtml } from '../../platform/lib/web/accept.ts'
import { failureAnswerOf, NO_STORE_HEADERS, prepareFailure } from '../../platform/lib/web/envelope.ts'
import { FORM_OWNER } from '../../platform/lib/web/form-owner.ts'
import { formToResend } from '../../platform/lib/web/forms.ts'
import { inMinutes } from '../../platform/lib/web/locale.ts'
import { actorOf, noteForLog } from '../../platform/lib/web/observe.ts'
import { type OwnCookie, ownCookie } from '../../platform/lib/web/own-cookie.ts'
import { localeOfRequest, type PageOptions, sendErrorPage, sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { RescodeError } from '../../platform/lib/web/rescode.ts'
import { leadToSignIn, pageOf } from '../../platform/lib/web/return-to.ts'
import { trafficTexts } from '../../sandbox/portal/index.ts'
import { ADMIN_TOKEN_NAME, type ConsoleOperator, findConsoleSession, RoleNeeded } from '../operators/index.ts'
import { mayDo, roleFor } from './permissions.ts'
import { SECTIONS } from './sections/index.ts'
import { roleText } from './texts.ts'

declare module 'fastify' {
  interface FastifyRequest {
    consoleOperator: ConsoleOperator | null
  }
}

export const HOME = '/console'
/** The session cookie; on plain http browsers send it only to pages below /console. */
export const consoleCookie = ({ PUBLIC_URL, OPERATOR_SESSION_S }: Config): OwnCookie =>
  ownCookie(PUBLIC_URL, { name: 'gatehouse_operator', path: HOME, maxAgeS: OPERATOR_SESSION_S })

export const SIGN_IN = `${HOME}/sign-in`
export const AUTHENTICATOR = `${HOME}/authenticator`

/** The signed-in operator. */
export function whoIs({ consoleOperator }: FastifyRequest): ConsoleOperator {
  if (!consoleOperator) throw new Error('the route is not behind the session of the console')
  return consoleOperator
}

/** Deps with the operator as actor, for the audit log. */
export const onBehalfOf = <Given extends Deps>(deps: Given, request: FastifyRequest): Given => ({
  ...deps,
  actor: { ...actorOf(request, 'operator', whoIs(request).name), by: 'console' },
})

/**
 * Redirects to the sign-in without a session, and to the page that adds an authenticator without one (`pending`). Forms
 * are read before it, so that the page that says that the database is away can give back what was typed.
 */
export const signedInOnly = (deps: Deps, { pending }: { readonly pending: boolean }): preValidationAsyncHookHandler => {
  const cookie = consoleCookie(deps.config)
  return async (request, reply) => {
    const session = cookie.read(request)
    const operator = await findConsoleSession(deps, session)
    if (!operator) {
      const page = pageOf(request, deps.config.PUBLIC_URL, HOME)
      return leadToSignIn(request, reply, { signIn: SIGN_IN, page, session })
    }
    request.consoleOperator = operator
    request.operator = operator
    noteForLog(request, { operator: operator.name })
    if (operator.pending === pending) return
    return reply
      .headers(NO_STORE_HEADERS)
      .redirect(pending ? HOME : AUTHENTICATOR, request.method === 'GET' ? 302 : 303)
  }
}

/** A preHandler hook that refuses forms without the mark of their operator. */
export const refuseForgedForms =
  ({ keys }: Deps): preHandlerAsyncHookHandler =>
  async (request) => {
    const owner = `operator ${whoIs(request).name}`
    const mark: unknown = Object(request.body)[FORM_OWNER.field]
    if (request.method === 'POST' && !FORM_OWNER.isOf(keys, owner, mark))
      throw new RescodeError(20003, { detail: 'a form that is not of this operator' })
    FORM_OWNER.bindFormsTo(keys, request, owner)
  }

/** A preValidation hook: throws RoleNeeded for operators of a lower role, and records that in the audit log. */
export function rolesOnly(operation: string): preValidationAsyncHookHandler {
  const needed = roleFor(operation)
  return (request) => request.server.requireRole(request, needed, operation)
}

/**
 * Renders a view in `/console/layout`; once signed in, with the navigation for the operator's role, where `section` is
 * the current one.
 */
export function sendConsolePage(
  request: FastifyRequest,
  reply: FastifyReply,
  view: string,
  data: object,
  { section = '', ...options }: PageOptions & { readonly section?: string } = {},
): Promise<FastifyReply> {
  const t = textsFor(request)
  const operator = request.consoleOperator
  const who =
    operator && !operator.pending
      ? { name: operator.name, role: roleText(operator.role, t), hasCodes: operator.name !== ADMIN_TOKEN_NAME }
      : null
  const sections = SECTIONS.filter(({ operation, lists }) => lists && operator && mayDo(operator.role, operation)).map(
    ({ id, title }) => ({ href: `${HOME}/${id}`, name: t(title), isCurrent: id === section }),
  )
  return sendPage(request, reply, view, { ...data, who, sections }, options)
}

/** Shows an error as a page that leads back into the console, with its HTTP status; scripts get JSON. */
export async function sendConsoleError(
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
): Promise<FastifyReply> {
  const error = failureAnswerOf(thrown, request)
  const isHere = request.server.isForOperators(request) // other listeners must not show that there is a console
  if (!isHere || !prefersHtml(request.headers.accept)) return sendErrorPage(request, reply, error, true)
  prepareFailure(error, request, reply, true)
  if (thrown instanceof RoleNeeded) {
    const t = textsFor(request)
    const shown = { needed: roleText(thrown.needed, t), has: roleText(whoIs(request).role, t) }
    return sendConsolePage(request, reply, 'console/forbidden', shown)
  }
  const wait = inMinutes(localeOfRequest(request), Number(error.failure.headers?.['Retry-After'] ?? 0))
  const status = Math.min(error.status(true), 500) // the page has one text for 500 and 503
  return sendConsolePage(request, reply, 'console/error', {
    status,
    message: trafficTexts(localeOfRequest(request)).reason(error.text),
    wait,
    isUnknown: error.failure.outcomeUnknown,
    typed: formToResend(request, error.failure),
    action: request.url,
    requestId: request.id,
  })
}

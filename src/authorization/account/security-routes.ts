import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { hasPasskeys } from '../../platform/config/people.ts'
import type { Deps } from '../../platform/deps.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import { seeOther } from '../../platform/lib/web/envelope.ts'
import { FORM_OWNER } from '../../platform/lib/web/form-owner.ts'
import { actorOf } from '../../platform/lib/web/observe.ts'
import { sendPage, textsFor } from '../../platform/lib/web/page.ts'
import { qrPicture } from '../../platform/lib/web/qr.ts'
import { queryOf } from '../../platform/lib/web/request-target.ts'
import { localPath } from '../../platform/lib/web/return-to.ts'
import { preparePages } from '../../platform/throttle/index.ts'
import { confirmOwnTotp, enrolTotp, factorsOf, removeOwnTotp, replaceRecoveryCodes } from './factors.ts'
import { addPasskey, ownPasskeys, registrationOptions, removeOwnPasskey, renameOwnPasskey } from './passkeys.ts'
import { ownPassport } from './password.ts'
import { findSession, type SignedIn, sessionCookie } from './session.ts'
import { askToSignIn, freshSession, isFresh } from './sign-in-guard.ts'
import { codeForm, newPasskeyForm, onePasskey, passkeyName, signInQuery } from './wire.ts'

/** The room people serves this page, which links to those below. */
const SECURITY = '/account/security'
const OVERVIEW = `${SECURITY}/sign-in`
const PASSKEYS = `${SECURITY}/passkeys`

const NOT_ADDED = { not_added: 'passkey.not_added', full: 'passkey.full', known: 'passkey.known' } as const

const DONE = {
  passkey_added: 'security.done.passkey_added',
  passkey_renamed: 'security.done.passkey_renamed',
  passkey_removed: 'security.done.passkey_removed',
  totp_added: 'security.done.totp_added',
  totp_removed: 'security.done.totp_removed',
} as const
const done = doneText(DONE)

type Handler = (request: FastifyRequest, reply: FastifyReply, session: SignedIn, acting: Deps) => Promise<unknown>

/** How a person signs in: the authenticator with its recovery codes, passkeys. */
export const securityPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config } = deps
  const cookie = sessionCookie(config)
  await preparePages(app, config)

  /** The page to return to after adding an authenticator; empty for none. */
  const returnToOf = (given: unknown): string => {
    const { return_to } = signInQuery.parse(given)
    return return_to === undefined ? '' : localPath(return_to, config.PUBLIC_URL)
  }
  /** This page, to be reopened after a sign-in in between. */
  const withReturnTo = (given: unknown): string => {
    const return_to = returnToOf(given)
    return return_to === '' ? OVERVIEW : `${OVERVIEW}?${new URLSearchParams({ return_to })}`
  }
  const toOverview = (reply: FastifyReply) => seeOther(reply, OVERVIEW)
  const toDone = (reply: FastifyReply, what: keyof typeof DONE, page = OVERVIEW) =>
    seeOther(reply, `${page}${page.includes('?') ? '&' : '?'}done=${what}`)

  app.get(OVERVIEW, async (request, reply) => {
    const session = await findSession(deps, cookie.read(request))
    if (!session) return askToSignIn(reply, withReturnTo(request.query), false)
    FORM_OWNER.bindFormsTo(deps.keys, request, subjectOf(session))
    return show(request, reply, session)
  })

  const withPasskeys = hasPasskeys(config)
  const show = async (request: FastifyRequest, reply: FastifyReply, session: SignedIn, alert = '') => {
    const { totpSince, recoveryCodes } = await factorsOf(deps, session)
    const here = withReturnTo(request.body ?? request.query)
    const fresh = await isFresh(deps, session)
    const shown = {
      asks: !fresh,
      offersTotp: config.SECOND_FACTOR !== 'off',
      requiresTotp: config.SECOND_FACTOR === 'required',
      totpSince: totpSince?.toISOString() ?? null,
      recoveryCodes: String(recoveryCodes),
      alert,
      done: done(request),
      returnTo: returnToOf(request.body ?? request.query),
      signInAgain: `/sign-in?${new URLSearchParams({ return_to: here, confirm: '1' })}`,
      passkeys: withPasskeys ? await shownPasskeys(session, fresh) : null,
    }
    const person = { name: session.name, avatarUrl: session.avatarUrl }
    const page = { ...shown, section: 'security', person }
    return sendPage(request, reply, 'account/security', page, { scripts: true, query: queryOf(here) })
  }

  /** `options`, for adding another one, only with a fresh sign-in. */
  const shownPasskeys = async (session: SignedIn, fresh: boolean) => ({
    list: (await ownPasskeys(deps, session)).map(({ passkeyId, name, createdAt, lastUsedAt }) => ({
      id: passkeyId,
      name,
      since: createdAt.toISOString(),
      lastUsed: lastUsedAt?.toISOString() ?? null,
    })),
    options: fresh ? await registrationOptions(deps, session) : '',
  })

  /** A form that needs a fresh sign-in. */
  const change = (path: string, work: Handler): void => {
    // The address of the POST, reloaded or opened by a language link.
    app.get(path, (request, reply) => seeOther(reply, `${OVERVIEW}?${queryOf(request.url)}`))
    app.post(path, async (request, reply) => {
      const session = await freshSession(deps, request, reply, withReturnTo(request.body))
      if (!session) return reply
      FORM_OWNER.bindFormsTo(deps.keys, request, subjectOf(session))
      return work(request, reply, session, { ...deps, actor: actorOf(request, 'user') })
    })
  }

  const sendAuthenticator = (request: FastifyRequest, reply: FastifyReply, page: object) =>
    sendPage(request, reply, 'account/authenticator', {
      ...{ made: null, picture: null, alert: '', returnTo: returnToOf(request.body) },
      ...page,
    })
  const sendCodes = (request: FastifyRequest, reply: FastifyReply, codes: readonly string[]) => {
    const goOn = returnToOf(request.body) || OVERVIEW
    return sendPage(request, reply, 'account/recovery-codes', { codes, goOn }, { scripts: true })
  }

  if (config.SECOND_FACTOR !== 'off') {
    change(`${SECURITY}/authenticator`, async (request, reply, session) => {
      const made = await enrolTotp(deps, session, await ownPassport(deps, session))
      if (!made) return toOverview(reply)
      return sendAuthenticator(request, reply, { made, picture: qrPicture(made.url) })
    })

    change(`${SECURITY}/authenticator/confirm`, async (request, reply, session, acting) => {
      const form = codeForm.safeParse(request.body)
      const codes = form.success ? await confirmOwnTotp(acting, session, form.data.code) : undefined
      if (codes) return sendCodes(request, reply, codes)
      // Sent again, as by reloading the page with the codes: lead to where new codes can be made.
      if ((await factorsOf(deps, session)).totpSince) return toDone(reply, 'totp_added', withReturnTo(request.body))
      const alert = textsFor(request)('second_step.wrong')
      return sendAuthenticator(request, reply.code(form.success ? 403 : 400), { alert })
    })

    change(`${SECURITY}/recovery-codes`, async (request, reply, session, acting) => {
      const codes = await replaceRecoveryCodes(acting, session)
      return codes ? sendCodes(request, reply, codes) : toOverview(reply)
    })
  }

  change(`${SECURITY}/authenticator/remove`, async (_request, reply, session, acting) => {
    await removeOwnTotp(acting, session)
    return toDone(reply, 'totp_removed')
  })

  if (!withPasskeys) return

  change(PASSKEYS, async (request, reply, session, acting) => {
    const form = newPasskeyForm.safeParse(request.body)
    const added = form.success
      ? await addPasskey(acting, session, { response: form.data.credential, name: form.data.name })
      : 'not_added'
    if (added === 'added') return toDone(reply, 'passkey_added', withReturnTo(request.body))
    return show(request, reply.code(400), session, textsFor(request)(NOT_ADDED[added]))
  })

  change(`${PASSKEYS}/rename`, async (request, reply, session) => {
    const form = onePasskey.extend(passkeyName.shape).safeParse(request.body)
    if (!form.success) return toOverview(reply)
    await renameOwnPasskey(deps, session, form.data.passkey_id, form.data.name)
    return toDone(reply, 'passkey_renamed')
  })

  change(`${PASSKEYS}/remove`, async (request, reply, session, acting) => {
    const form = onePasskey.safeParse(request.body)
    if (!form.success) return toOverview(reply)
    await removeOwnPasskey(acting, session, form.data.passkey_id)
    return toDone(reply, 'passkey_removed')
  })
}

import type { FastifyPluginAsync } from 'fastify'
import { findSession, sessionCookie } from '../account/index.ts'
import type { Deps } from '../deps.ts'
import { AREA_A_HEADERS, failureAnswerOf } from '../lib/web/envelope.ts'
import { type Locale, type Translate, translator } from '../lib/web/locale.ts'
import { localeOfRequest, sendErrorPage, sendPage } from '../lib/web/page.ts'
import type { TotalReads } from '../resource/index.ts'
import { limitPages } from '../throttle/index.ts'
import { type KnownApp, knownApps } from './known-apps.ts'

const PATH = '/account'

/** The person's own page: which app may learn what, how often it has read it and when. */
export const myDataRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const cookie = sessionCookie(deps.config)
  app.addHook('onRequest', limitPages(app, deps.config))
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), true))

  app.get(PATH, async (request, reply) => {
    const session = await findSession(deps, cookie.read(request))
    if (!session) {
      return reply.headers(AREA_A_HEADERS).redirect(`/sign-in?return_to=${encodeURIComponent(request.url)}`, 303)
    }
    const locale = localeOfRequest(request)
    const apps = (await knownApps(deps, session)).map((known) => shownApp(known, locale))
    return sendPage(request, reply, 'people/account', { apps, days: String(deps.config.ACCESS_LEDGER_DAYS) })
  })
}

/** Scopes of both dialects by their texts. */
const SCOPE_TEXTS: Readonly<Record<string, string>> = {
  USER_INFO: 'scope.user_info',
  profile: 'scope.user_info',
  PHONE_NUMBER: 'scope.phone_number',
  phone: 'scope.phone_number',
  openid: 'scope.openid',
  offline_access: 'scope.offline_access',
}

function shownApp({ name, logoUrl, scopes, reads }: KnownApp, locale: Locale) {
  const t = translator(locale)
  const texts = new Set(scopes.flatMap((scope) => (SCOPE_TEXTS[scope] ? [t(SCOPE_TEXTS[scope])] : [])))
  const what = [...texts].join(t('account.between'))
  return {
    name,
    logoUrl,
    may: texts.size > 0 ? t('account.may', { what }) : t('account.ended'),
    reads: reads.length > 0 ? reads.map((one) => shownReads(one, locale, t)) : [{ text: t('account.not_read') }],
  }
}

/** A sentence, and the time that a line feed in it stands for (views/when.eta). */
interface ShownReads {
  readonly text: string
  readonly at?: string
}

function shownReads({ kind, reads, last_at }: TotalReads, locale: Locale, t: Translate): ShownReads {
  const count = reads.toLocaleString(locale)
  const times = reads === 1 ? t('account.times.one') : t('account.times.more', { count })
  const text = t(kind === 'phone' ? 'account.phone.read' : 'account.profile.read', { times, when: '\n' })
  return { text, at: last_at.toISOString() }
}

import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { secondsUntil } from '../../platform/lib/clock.ts'
import { inMinutes, translator } from '../../platform/lib/web/locale.ts'
import { localeOfRequest, sendPage } from '../../platform/lib/web/page.ts'
import { askForPassword } from './forgotten.ts'
import { preparePages } from './forms-guard.ts'
import { deviceCookieOf, FORGOTTEN } from './sign-in-cookies.ts'
import { forgottenForm, signInQuery } from './wire.ts'

/** The page for whoever has forgotten the password. It says the same whether there is such a person. */
export const forgottenPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { config, clock } = deps
  if (config.PASSWORD_RESET === 'off') return
  const deviceCookie = deviceCookieOf(config)
  await preparePages(app, config)

  const show = (request: FastifyRequest, reply: FastifyReply, shown: object) =>
    sendPage(request, reply, 'account/forgotten', { passport: '', alert: '', asked: false, ...shown }, { query: '' })

  app.get(FORGOTTEN, (request, reply) =>
    show(request, reply, { passport: signInQuery.parse(request.query).login_hint ?? '' }),
  )

  app.post(FORGOTTEN, async (request, reply) => {
    const locale = localeOfRequest(request)
    const t = translator(locale)
    const form = forgottenForm.safeParse(request.body)
    if (!form.success) return show(request, reply.code(400), { alert: t('forgotten.incomplete') })
    const { passport } = form.data
    const until = await askForPassword(deps, { passport, address: request.ip, device: deviceCookie.read(request) })
    if (!until) return show(request, reply, { passport, asked: true })
    const seconds = Math.max(1, secondsUntil(until, clock.now()))
    reply.code(429).header('Retry-After', String(seconds))
    return show(request, reply, { passport, alert: t('forgotten.limited', { when: inMinutes(locale, seconds) }) })
  })
}

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { deviceInWords } from '../../platform/lib/web/device.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { OWN_SESSIONS } from '../account/index.ts'
import { accountPages } from './account-guard.ts'

type OwnSession = OutputOf<typeof OWN_SESSIONS.list>[number]
type SignIn = OutputOf<typeof OWN_SESSIONS.signIns>['signIns'][number]

const PATH = '/account/security'

const sessionForm = z.object({ session: z.string().max(100).catch('') }).catch({ session: '' })
/** Cursor of the sign-in list; unusable values count as absent. */
const pageQuery = z.object({ after: z.string().optional() }).catch({})
const done = doneText({ session: 'account.sessions.ended', others: 'account.sessions.others_ended' })

export const securityRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const pages = await accountPages(app, deps)

  pages.get(PATH, async ({ request, person, page, t }) => {
    const { after } = pageQuery.parse(request.query)
    const input = OWN_SESSIONS.signIns.input.safeParse({ after }).data ?? OWN_SESSIONS.signIns.input.parse({})
    const { signIns, next } = await OWN_SESSIONS.signIns(deps, input, person)
    return page('security', 'people/security', {
      done: done(request),
      sessions: (await OWN_SESSIONS.list(deps, person)).map((session) => shownSession(session, t)),
      signIns: signIns.map((signIn) => shownSignIn(signIn, t)),
      older: next,
    })
  })

  pages.form('/account/sessions/end', PATH, async ({ request, person, deps: acting }) => {
    const { isThis } = await OWN_SESSIONS.end(acting, person, sessionForm.parse(request.body).session)
    return isThis ? '/' : '?done=session'
  })

  pages.form('/account/sessions/end-others', PATH, async ({ person, deps: acting }) => {
    await OWN_SESSIONS.endOthers(acting, person)
    return '?done=others'
  })
}

const shownSession = ({ id, isThis, createdAt, expiresAt, address, userAgent }: OwnSession, t: Translate) => ({
  id,
  isThis,
  device: deviceInWords(userAgent, t),
  address,
  since: createdAt.toISOString(),
  until: expiresAt.toISOString(),
})

const shownSignIn = ({ at, outcome, address, userAgent }: SignIn, t: Translate) => ({
  at: at.toISOString(),
  tone: outcome === 'succeeded' ? 'good' : outcome === 'code_asked' ? '' : 'bad',
  outcome: t(`account.sign_ins.${outcome}`),
  device: deviceInWords(userAgent, t),
  address,
})

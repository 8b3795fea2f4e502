import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { deviceInWords } from '../../platform/lib/web/device.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { textsFor } from '../../platform/lib/web/page.ts'
import { OWN_SESSIONS } from '../account/index.ts'
import { accountGuard } from './account-guard.ts'

type OwnSession = OutputOf<typeof OWN_SESSIONS.list>[number]
type SignIn = OutputOf<typeof OWN_SESSIONS.signIns>['signIns'][number]

const PATH = '/account/security'

const sessionForm = z.object({ session: z.string().max(100).catch('') }).catch({ session: '' })
/** What the page tells of, and where its list of sign-ins begins; anything unusable counts as not given. */
const pageQuery = z
  .object({ done: z.enum(['session', 'others']).optional().catch(undefined), after: z.string().optional() })
  .catch({})

/** Where the person is signed in, and who has signed in. */
export const securityRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const forPerson = await accountGuard(app, deps)

  app.get(
    PATH,
    forPerson(PATH, async ({ request, person, page }) => {
      const t = textsFor(request)
      const { done, after } = pageQuery.parse(request.query)
      const asked = OWN_SESSIONS.signIns.input.safeParse({ after })
      const { signIns, next } = await OWN_SESSIONS.signIns(
        deps,
        asked.data ?? OWN_SESSIONS.signIns.input.parse({}),
        person,
      )
      return page('security', 'people/security', {
        done: done ? t(done === 'session' ? 'account.sessions.ended' : 'account.sessions.others_ended') : null,
        sessions: (await OWN_SESSIONS.list(deps, person)).map((one) => shownSession(one, t)),
        signIns: signIns.map((one) => shownSignIn(one, t)),
        older: next,
      })
    }),
  )

  app.post(
    '/account/sessions/end',
    forPerson(PATH, async ({ request, person, deps: acting, goTo }) => {
      const { isThis } = await OWN_SESSIONS.end(acting, person, sessionForm.parse(request.body).session)
      return goTo(isThis ? '/' : `${PATH}?done=session`)
    }),
  )

  app.post(
    '/account/sessions/end-others',
    forPerson(PATH, async ({ person, deps: acting, goTo }) => {
      await OWN_SESSIONS.endOthers(acting, person)
      return goTo(`${PATH}?done=others`)
    }),
  )
}

const shownSession = ({ id, isThis, createdAt, expiresAt, address, userAgent }: OwnSession, t: Translate) => ({
  id,
  isThis,
  device: deviceInWords(userAgent, t),
  address,
  since: createdAt.toISOString(),
  until: expiresAt.toISOString(),
})

const OUTCOMES: Readonly<Record<SignIn['outcome'], string>> = {
  succeeded: 'account.sign_ins.succeeded',
  failed: 'account.sign_ins.failed',
  locked: 'account.sign_ins.locked',
  code_asked: 'account.sign_ins.code_asked',
}

const shownSignIn = ({ at, outcome, address, userAgent }: SignIn, t: Translate) => ({
  at: at.toISOString(),
  tone: outcome === 'succeeded' ? 'good' : outcome === 'code_asked' ? '' : 'bad',
  outcome: t(OUTCOMES[outcome]),
  device: deviceInWords(userAgent, t),
  address,
})

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { retryAfter, textsFor } from '../../platform/lib/web/page.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { OWN_PROFILE, type SignedIn, STEP_UP } from '../account/index.ts'
import { accountGuard, type PersonRequest } from './account-guard.ts'

const PROFILE = '/account/profile'
const CONTACTS = ['phone', 'mail'] as const
type Contact = (typeof CONTACTS)[number]

const DONE = { saved: 'account.profile.saved', phone: 'account.profile.phone_done', mail: 'account.profile.mail_done' }
/** What the page tells of; anything unusable counts as not given. */
const pageQuery = z
  .object({
    done: z.enum(['saved', 'phone', 'mail']).optional().catch(undefined),
    refused: z.enum(['large', 'unfit']).optional().catch(undefined),
  })
  .catch({ done: undefined, refused: undefined })
const REFUSED = { large: 'account.profile.picture_large', unfit: 'account.profile.picture_unfit' } as const

const UNFIT = {
  phone: 'account.profile.phone_unfit',
  mail: 'account.profile.mail_unfit',
} as const
const NOT_CONFIRMED = {
  wrong: [403, 'account.profile.code_wrong'],
  ended: [409, 'account.profile.code_ended'],
  taken: [409, 'account.profile.taken'],
} as const

/** What apps are shown of the person, and the person's changes of it. */
export const profileRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const forPerson = await accountGuard(app, deps)

  async function ownProfile(person: SignedIn) {
    const found = await OWN_PROFILE.show(deps, person)
    if (!found) throw invalidRequest(localized('no-user'), { status: 404 })
    return found
  }

  async function show({ request, person, page }: PersonRequest, alert = '') {
    const { cid, userId } = person
    const { passport, name, gender, big_avatar_url, phone_number, created_at } = await ownProfile(person)
    const { done, refused } = pageQuery.parse(request.query)
    const t = textsFor(request)
    return page('profile', 'people/profile', {
      ...{ cid: String(cid), userId, passport, gender, name, avatar: big_avatar_url, phone: phone_number },
      createdAt: created_at.toISOString(),
      editable: OWN_PROFILE.editable(deps),
      pending: await OWN_PROFILE.pending(deps, person),
      asks: !(await STEP_UP.isFresh(deps, person)),
      done: done ? t(DONE[done]) : null,
      alert: refused ? t(REFUSED[refused]) : alert,
    })
  }

  app.get(
    PROFILE,
    forPerson(PROFILE, (given) => show(given)),
  )

  app.post(
    PROFILE,
    forPerson(PROFILE, async (given) => {
      const { request, reply, person, deps: acting, goTo } = given
      const form = OWN_PROFILE.edit.input.safeParse(request.body)
      if (form.success && (await OWN_PROFILE.edit(acting, form.data, person))) return goTo(`${PROFILE}?done=saved`)
      const field = form.success ? 'big_avatar_url' : String(form.error.issues[0]?.path[0])
      reply.code(400)
      const t = textsFor(request)
      return show(given, t(field === 'big_avatar_url' ? 'account.profile.avatar_unfit' : 'account.profile.unfit'))
    }),
  )

  for (const kind of CONTACTS) contactForms(kind)

  function contactForms(kind: Contact): void {
    const path = `${PROFILE}/${kind}`
    // Opened directly, as by a language link of the page that answers the form.
    for (const each of [path, `${path}/confirm`])
      app.get(
        each,
        forPerson(PROFILE, async ({ goTo }) => goTo(PROFILE)),
      )

    app.post(
      path,
      forPerson(PROFILE, async (given) => {
        const { request, reply, person, deps: acting, goTo } = given
        if (!OWN_PROFILE.editable(deps).includes(kind))
          throw invalidRequest(localized('not-changed-here'), { status: 404 })
        if (!(await STEP_UP.isFresh(deps, person))) return STEP_UP.ask(reply, PROFILE, true)
        const t = textsFor(request)
        const form = OWN_PROFILE.ask.input.safeParse({ ...Object(request.body), kind })
        const { passport, phone_number } = await ownProfile(person)
        if (!form.success || form.data.value === (kind === 'phone' ? phone_number : passport)) {
          reply.code(400)
          return show(given, t(UNFIT[kind]))
        }
        const until = await OWN_PROFILE.ask(acting, form.data, person, request.ip)
        if (!until) return goTo(`${PROFILE}#${kind}`)
        const when = retryAfter(request, reply, until, deps.clock.now())
        return show(given, t('account.profile.limited', { when }))
      }),
    )

    app.post(
      `${path}/confirm`,
      forPerson(PROFILE, async (given) => {
        const { request, reply, person, deps: acting, goTo } = given
        if (!OWN_PROFILE.editable(deps).includes(kind))
          throw invalidRequest(localized('not-changed-here'), { status: 404 })
        if (!(await STEP_UP.isFresh(deps, person))) return STEP_UP.ask(reply, PROFILE, true)
        const form = OWN_PROFILE.confirm.input.safeParse({ ...Object(request.body), kind })
        const confirmed = form.success ? await OWN_PROFILE.confirm(acting, form.data, person) : 'wrong'
        if (confirmed === 'done') return goTo(`${PROFILE}?done=${kind}`)
        const [status, text] = NOT_CONFIRMED[confirmed]
        reply.code(status)
        return show(given, textsFor(request)(text))
      }),
    )
  }
}

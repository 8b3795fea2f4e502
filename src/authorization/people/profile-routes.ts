import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import { retryAfter } from '../../platform/lib/web/page.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { OWN_PROFILE, type SignedIn, STEP_UP } from '../account/index.ts'
import { accountPages, type PersonRequest, typedText } from './account-guard.ts'

const PROFILE = '/account/profile'
const CONTACTS = ['phone', 'mail'] as const

/** A form that was not accepted: the field that the alert is about, and what was typed. */
interface Refused {
  readonly alert: string
  readonly field: string
  readonly typed?: Readonly<Record<string, string>>
}

const done = doneText({
  saved: 'account.profile.saved',
  phone: 'account.profile.phone_done',
  mail: 'account.profile.mail_done',
})
/** Why an upload was refused; unusable values count as absent. */
const pageQuery = z.object({ refused: z.enum(['large', 'unfit']).optional() }).catch({})
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

/** The profile that apps see, and changes to it. */
export const profileRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const pages = await accountPages(app, deps)

  async function ownProfile(person: SignedIn) {
    const profile = await OWN_PROFILE.show(deps.db, person)
    if (!profile) throw invalidRequest(localized('no-user'), { status: 404 })
    return profile
  }

  async function show({ request, person, page, t }: PersonRequest, shown: Refused = { alert: '', field: '' }) {
    const { cid, userId } = person
    const { passport, name, gender, big_avatar_url, phone_number, created_at } = await ownProfile(person)
    const { refused } = pageQuery.parse(request.query)
    return page('profile', 'people/profile', {
      ...{ cid: String(cid), userId, passport, gender, name, avatar: big_avatar_url, phone: phone_number },
      typed: {},
      ...shown,
      createdAt: created_at.toISOString(),
      editable: OWN_PROFILE.editable(deps),
      pending: await OWN_PROFILE.pending(deps, person),
      asks: !(await STEP_UP.isFresh(deps, person)),
      done: done(request),
      ...(refused ? { alert: t(REFUSED[refused]) } : {}),
    })
  }

  pages.get(PROFILE, (context) => show(context))

  pages.form(PROFILE, PROFILE, async (context) => {
    const { request, reply, person, deps: acting, t } = context
    const form = OWN_PROFILE.edit.input.safeParse(request.body)
    if (form.success && (await OWN_PROFILE.edit(acting, form.data, person))) return '?done=saved'
    const field = form.success ? 'big_avatar_url' : String(form.error.issues[0]?.path[0])
    reply.code(400)
    const alert = t(field === 'big_avatar_url' ? 'account.profile.avatar_unfit' : 'account.profile.unfit')
    const typed = {
      name: typedText(context, 'name'),
      gender: typedText(context, 'gender'),
      avatar: typedText(context, 'big_avatar_url'),
    }
    return show(context, { alert, field, typed })
  })

  for (const kind of CONTACTS) {
    /** A form for this field, if it is editable; needs a fresh sign-in. */
    const form = (path: string, work: (context: PersonRequest) => Promise<FastifyReply | string>) =>
      pages.form(path, PROFILE, async (context) => {
        if (!OWN_PROFILE.editable(deps).includes(kind))
          throw invalidRequest(localized('not-changed-here'), { status: 404 })
        if (!(await STEP_UP.isFresh(deps, context.person))) return STEP_UP.ask(context.reply, PROFILE, true)
        return work(context)
      })

    form(`${PROFILE}/${kind}`, async (context) => {
      const { request, reply, person, deps: acting, t } = context
      const typed = OWN_PROFILE.ask.input.safeParse({ ...Object(request.body), kind })
      const { passport, phone_number } = await ownProfile(person)
      if (!typed.success || typed.data.value === (kind === 'phone' ? phone_number : passport)) {
        reply.code(400)
        return show(context, { alert: t(UNFIT[kind]), field: kind, typed: { [kind]: typedText(context, 'value') } })
      }
      const until = await OWN_PROFILE.ask(acting, typed.data, person, request.ip)
      if (!until) return `#${kind}`
      const when = retryAfter(request, reply, until, deps.clock.now())
      const alert = t('account.profile.limited', { when })
      return show(context, { alert, field: kind, typed: { [kind]: typedText(context, 'value') } })
    })

    form(`${PROFILE}/${kind}/confirm`, async (context) => {
      const { request, reply, person, deps: acting, t } = context
      const typed = OWN_PROFILE.confirm.input.safeParse({ ...Object(request.body), kind })
      const confirmed = typed.success ? await OWN_PROFILE.confirm(acting, typed.data, person) : 'wrong'
      if (confirmed === 'done') return `?done=${kind}`
      const [status, text] = NOT_CONFIRMED[confirmed]
      reply.code(status)
      return show(context, { alert: t(text), field: `${kind}-code` })
    })
  }
}

import multipart from '@fastify/multipart'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import { FORM_OWNER } from '../../platform/lib/web/form-owner.ts'
import { typedText } from '../../platform/lib/web/forms.ts'
import { retryAfter } from '../../platform/lib/web/page.ts'
import { hasBody } from '../../platform/lib/web/read-body.ts'
import { invalidRequest, noSuchPath } from '../../platform/lib/web/rescode.ts'
import { announcedBytes, isFileTooLarge } from '../../platform/lib/web/upload.ts'
import { limitPages } from '../../platform/throttle/index.ts'
import { OWN_PROFILE, type SignedIn, STEP_UP } from '../account/index.ts'
import { accountPages, type PersonRequest } from './account-guard.ts'

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
      name: typedText(context.request.body, 'name'),
      gender: typedText(context.request.body, 'gender'),
      avatar: typedText(context.request.body, 'big_avatar_url'),
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
      const again = { field: kind, typed: { [kind]: typedText(request.body, 'value') } }
      if (!typed.success || typed.data.value === (kind === 'phone' ? phone_number : passport)) {
        reply.code(400)
        return show(context, { alert: t(UNFIT[kind]), ...again })
      }
      const until = await OWN_PROFILE.ask(acting, typed.data, person, request.ip)
      if (!until) return `#${kind}`
      const when = retryAfter(request, reply, until, deps.clock.now())
      const alert = t('account.profile.limited', { when })
      return show(context, { alert, ...again })
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

const { path: PICTURES, largest } = OWN_PROFILE.picture
/** Files slightly too large are read, so that our page can say so; much larger ones are not. */
const FORM_LIMIT = 4 * largest

const MULTIPART = /^multipart\/form-data\s*(;|$)/i

const pictureParams = z.object({
  key: z.coerce.number().int().min(0).max(65_535),
  file: z
    .string()
    .regex(/\.jpg$/)
    .transform((name) => name.slice(0, -4))
    .pipe(z.uuid()),
})

/** Cannot be rendered as a page; may be embedded by other sites. The picture at an address never changes. */
const HEADERS = {
  'Content-Type': 'image/jpeg',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Content-Disposition': 'inline; filename="picture.jpg"',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'public, max-age=3600, immutable',
} as const

export const pictureRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(uploadRoute, { deps })

  app.get(`${PICTURES}/:key/:file`, { onRequest: limitPages(app, deps.config) }, async (request, reply) => {
    const params = pictureParams.safeParse(request.params)
    const picture = params.success && (await OWN_PROFILE.picture.find(deps.db, params.data.key, params.data.file))
    if (!picture) throw noSuchPath()
    return reply.headers(HEADERS).send(picture)
  })
}

const uploadRoute: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const pages = await accountPages(app, deps, { limit: FORM_LIMIT, holder: 'uploads' }) // else they would crowd out forms
  await app.register(multipart, {
    limits: { fileSize: largest, files: 1, fields: 10, fieldSize: 100, parts: 11, headerPairs: 20 },
  })
  app.addHook('onRequest', async (request: FastifyRequest) => {
    if (!hasBody(request)) return
    if (!MULTIPART.test(request.headers['content-type'] ?? ''))
      throw invalidRequest(localized('no-file'), { status: 415 })
    announcedBytes(request, FORM_LIMIT)
  })

  pages.form(`${PROFILE}/picture`, PROFILE, async ({ request, person, deps: acting }) => {
    if (!OWN_PROFILE.editable(deps).includes('avatar'))
      throw invalidRequest(localized('not-changed-here'), { status: 404 })
    const { file, sentBy } = await uploaded(request)
    FORM_OWNER.require(deps.keys, subjectOf(person), sentBy)
    if (file === 'too large') return '?refused=large'
    const saved = file !== undefined && (await OWN_PROFILE.picture.set(acting, person, file))
    return saved ? '?done=saved' : '?refused=unfit'
  })
}

const field = z.object({ value: z.string() })

/** No file if the form has none or cannot be parsed. `sentBy`: whose page it is of; that field precedes the file. */
async function uploaded(
  request: FastifyRequest,
): Promise<{ file?: Buffer | 'too large'; sentBy?: string | undefined }> {
  if (!request.isMultipart()) return {}
  let sentBy: string | undefined
  try {
    const part = await request.file()
    sentBy = field.safeParse(part?.fields[FORM_OWNER.field]).data?.value
    if (part?.fieldname === 'picture') return { file: await part.toBuffer(), sentBy }
    part?.file.resume() // or the connection would stall
    return { sentBy }
  } catch (error) {
    return isFileTooLarge(error) ? { file: 'too large', sentBy } : { sentBy }
  }
}

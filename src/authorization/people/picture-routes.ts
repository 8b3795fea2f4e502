import multipart from '@fastify/multipart'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { FORM_OWNER } from '../../platform/lib/web/form-owner.ts'
import { hasBody } from '../../platform/lib/web/read-body.ts'
import { invalidRequest, noSuchPath } from '../../platform/lib/web/rescode.ts'
import { announcedBytes, isFileTooLarge } from '../../platform/lib/web/upload.ts'
import { limitPages } from '../../platform/throttle/index.ts'
import { OWN_PROFILE } from '../account/index.ts'
import { accountPages } from './account-guard.ts'

const { path: PICTURES, largest } = OWN_PROFILE.picture
const PROFILE = '/account/profile'
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
  const pages = await accountPages(app, deps, { limit: FORM_LIMIT, holder: 'uploads' }) // or uploads would crowd out forms
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

/** No file if the form has none, or cannot be parsed. `sentBy`: whose page it came from; the field precedes the file. */
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

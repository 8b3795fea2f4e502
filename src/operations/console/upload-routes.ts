import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Upload } from '../../platform/lib/action.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { REQUIRED } from '../../platform/lib/json/field-problem.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import type { LocalizedText } from '../../platform/lib/localized-text.ts'
import { readOr } from '../../platform/lib/read-or.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { queryOf } from '../../platform/lib/web/request-target.ts'
import { type Problem, unavailable } from '../../platform/lib/web/rescode.ts'
import { announcedBytes, fileTooLarge, isFileTooLarge } from '../../platform/lib/web/upload.ts'
import { shownProblems, worded } from '../../platform/lib/web/worded.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { rolesOnly, sendConsoleError, sendConsolePage, whoIs } from './guard.ts'
import type { FormPage, PageContext, Table } from './page-model.ts'
import { count, text } from './texts.ts'

/** The most lines with problems that the page shows. */
const SHOWN = 50
/** What sealing and the form's other parts add to a file that comes back in base64. */
const OVERHEAD = 4_096

const sentForm = z.object({
  file: z.instanceof(Buffer).optional(),
  sealed: z.string().optional(),
})

const refusedTable = (
  problems: readonly { readonly line: number; readonly problem: LocalizedText }[],
  t: Translate,
): Table => ({
  title: t('console.upload.refused'),
  head: [t('console.upload.line'), t('field.problem')],
  rows: problems.slice(0, SHOWN).map(({ line, problem }) => [text(count(line)), text(worded(problem, t))]),
  none: '',
  ...(problems.length > SHOWN ? { note: t('console.upload.first', { shown: String(SHOWN) }) } : {}),
})

const COUNTS = {
  new: 'console.upload.new',
  created: 'console.upload.created',
  identical: 'console.upload.identical',
  refused: 'console.upload.left_out',
} as const

interface Options {
  readonly deps: ServiceDeps
  readonly contextOf: (request: FastifyRequest) => PageContext
  readonly section: string
  readonly form: FormPage
  readonly upload: Upload<ServiceDeps>
}

/**
 * A form that takes a file. The first submission is a dry run, whose page says what would be done and carries the file,
 * so that nobody has to choose it again; sealed for the session, as it may hold passwords.
 */
export async function uploadRoutes(
  app: FastifyInstance,
  { deps, contextOf, section, form, upload }: Options,
): Promise<void> {
  const longest = Math.ceil((upload.bytes * 4) / 3) + OVERHEAD
  app.addHook('preValidation', rolesOnly(form.operation)) // before the file is read
  await app.register(multipart, {
    attachFieldsToBody: 'keyValues',
    limits: { fileSize: upload.bytes, fieldSize: longest, files: 1, fields: 3, parts: 4, headerPairs: 20 },
  })
  app.addHook('preParsing', async (request) => {
    const length = announcedBytes(request, longest + OVERHEAD)
    if (length > 0 && !request.heldBody?.add(length)) throw unavailable()
  })
  app.setErrorHandler((error, request, reply) =>
    sendConsoleError(request, reply, isFileTooLarge(error) ? fileTooLarge() : error),
  )

  const contextOfSeal = (request: FastifyRequest) => `${form.path} ${whoIs(request).sessionHash.toString('base64url')}`

  const show = (request: FastifyRequest, reply: FastifyReply, shown: object = {}) => {
    const { t } = contextOf(request)
    const page = {
      ...{ title: t(form.title), hint: t(upload.hint) },
      ...{ action: request.url, back: `/console/${section}` },
      ...{ problems: [], counts: [], refused: null, sealed: '', done: false },
      ...shown,
    }
    return sendConsolePage(request, reply, 'console/upload', page, { section, query: queryOf(request.url) })
  }

  app.get(form.path, (request, reply) => show(request, reply))

  app.post(form.path, async (request, reply) => {
    const { deps: acting, t } = contextOf(request)
    const refuse = (problems: readonly Problem[]) =>
      show(request, reply.code(400), {
        problems: shownProblems(problems, t, (name) => (name === 'file' ? t('console.upload.file') : undefined)),
      })
    const { file, sealed } = sentForm.catch({}).parse(request.body)
    const opened = (text: string): Buffer =>
      Buffer.from(decryptSecret(deps.keys, Buffer.from(text, 'base64'), contextOfSeal(request)))
    // What cannot be opened comes from another session, or not from our page.
    const content = file ?? readOr(() => opened(sealed ?? ''), undefined)
    if (!content) return refuse([{ field: 'file', problem: REQUIRED }])
    try {
      const { counts, problems } = await upload.run(acting, content, { dryRun: file !== undefined })
      const shownCounts = (Object.entries(COUNTS) as [keyof typeof COUNTS, string][]).filter(
        ([name]) => counts[name] > 0 || name === (file ? 'new' : 'created'),
      )
      return await show(request, reply, {
        done: file === undefined,
        counts: shownCounts.map(([name, key]) => ({ name: t(key), cells: [text(count(counts[name]))] })),
        refused: problems.length > 0 ? refusedTable(problems, t) : null,
        sealed:
          file && counts.new > 0
            ? encryptSecret(deps.keys, file.toString(), contextOfSeal(request)).toString('base64')
            : '',
      })
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      return refuse(error.problems)
    }
  })
}

import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { InvalidInput, parseInput } from '../../platform/lib/json/input.ts'
import { allows, ROLES } from '../../platform/lib/web/admin-auth.ts'
import { sendDownload } from '../../platform/lib/web/download.ts'
import { NO_STORE_HEADERS, seeOther } from '../../platform/lib/web/envelope.ts'
import { localeOfRequest, textsFor } from '../../platform/lib/web/page.ts'
import { queryOf } from '../../platform/lib/web/request-target.ts'
import { noSuchPath, type Problem, RescodeError } from '../../platform/lib/web/rescode.ts'
import { shownProblems } from '../../platform/lib/web/worded.ts'
import { trafficTexts } from '../../sandbox/portal/index.ts'
import { EXPORT_FORMATS, exportQuery } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import type { GatherMetrics } from '../metrics/index.ts'
import { StaleForm } from './action-form.ts'
import { HOME, onBehalfOf, rolesOnly, sendConsolePage, whoIs } from './guard.ts'
import { homePage } from './home.ts'
import type { ActionLink, DetailPage, Field, FormPage, ListPage, PageContext, Section } from './page-model.ts'
import { mayDo, roleFor } from './permissions.ts'
import { searchFor } from './search.ts'
import { SECTIONS } from './sections/index.ts'
import { roleText, titled } from './texts.ts'
import { uploadRoutes } from './upload-routes.ts'
import { doneQuery, formFields, pathParams } from './wire.ts'

type ContextOf = (request: FastifyRequest, exactly?: readonly string[]) => PageContext

const contextFrom =
  (deps: ServiceDeps): ContextOf =>
  (request, exactly = []) => ({
    deps: onBehalfOf(deps, request),
    t: textsFor(request),
    locale: localeOfRequest(request),
    role: whoIs(request).role,
    params: paramsOf(request),
    fields: { ...formFields(besideForm(request)), ...formFields(request.body, exactly) },
    admit: (role, operation) => request.server.requireRole(request, role, operation),
  })

/** The query without the fields of the form, so that a field emptied in the form stays empty. */
const besideForm = ({ query, body }: FastifyRequest): object =>
  Object.fromEntries(Object.entries(Object(query)).filter(([name]) => !(name in Object(body ?? {}))))

/** Path parameters; 404 for NUL, which no stored id can contain. */
function paramsOf({ params }: FastifyRequest): Record<string, string> {
  const given = pathParams.parse(params)
  if (Object.values(given).some((value) => value.includes('\0'))) throw noSuchPath()
  return given
}

const allowedTo = ({ role }: PageContext, links: readonly ActionLink[]): ActionLink[] =>
  links.filter(({ operation }) => mayDo(role, operation))

/** What higher roles may do here, a sentence for each: who looks for a button learns who has it. */
const othersMay = ({ role, t }: PageContext, links: readonly ActionLink[]): string[] =>
  ROLES.filter((needed) => !allows(role, needed)).flatMap((needed) => {
    const names = links.filter(({ operation }) => roleFor(operation) === needed).map(({ text }) => text)
    return names.length > 0
      ? [t('console.others_may', { role: roleText(needed, t), actions: [...new Set(names)].join(' · ') })]
      : []
  })

const isDone = ({ query }: FastifyRequest): boolean => doneQuery.safeParse(query).success

interface Options {
  readonly deps: ServiceDeps
  readonly gather: GatherMetrics
}

/** Every page of every section, each behind the role that its operation requires. */
export const consoleRoutes: FastifyPluginAsync<Options> = async (app, { deps, gather }) => {
  const contextOf = contextFrom(deps)

  app.get('/', async (request, reply) =>
    sendConsolePage(request, reply, 'console/home', await homePage(contextOf(request), gather)),
  )

  app.get('/search', async (request, reply) => {
    const result = await searchFor(contextOf(request))
    if (result.href) return reply.headers(NO_STORE_HEADERS).redirect(result.href, 302)
    return sendConsolePage(request, reply, 'console/search', result)
  })

  for (const section of SECTIONS) {
    for (const page of section.lists ?? []) listRoute(app, contextOf, section, page)
    for (const page of section.details ?? []) detailRoute(app, contextOf, section, page)
    for (const form of section.forms ?? []) {
      const { upload } = form
      if (upload) await app.register(uploadRoutes, { deps, contextOf, section: section.id, form, upload })
      else formRoutes(app, contextOf, section, form)
    }
  }
}

function listRoute(app: FastifyInstance, contextOf: ContextOf, section: Section, page: ListPage): void {
  const config = page.recordsLook ? ({ answersHead: false } as const) : {}
  app.get(page.path, { config, preValidation: rolesOnly(page.operation) }, async (request, reply) => {
    const whole = contextOf(request)
    const { export: format, ...fields } = whole.fields
    const context = { ...whole, fields }
    const { problems, file, ...list } = await readList(page, context, format)
    if (file) return sendDownload(reply, file)
    const { after, ...others } = fields
    const actions = page.actions?.(context) ?? []
    const filters = page
      .filters(context)
      .map((field) => ({ ...field, value: context.fields[field.name] ?? field.value ?? '' }))
    const shown = {
      title: context.t(page.title),
      lead: context.t(page.lead),
      path: HOME + page.path,
      filters,
      problems: shownProblems(problems, context.t, labelAmong(filters)),
      ...list,
      next: list.next === null ? null : `?${new URLSearchParams({ ...others, after: list.next })}`,
      first: after === undefined ? null : `?${new URLSearchParams(others)}`,
      exports: mayExport(page, context)
        ? EXPORT_FORMATS.map((kind) => [kind, `?${new URLSearchParams({ ...others, export: kind })}`])
        : [],
      actions: allowedTo(context, actions),
      othersMay: othersMay(context, actions),
      isDone: isDone(request),
    }
    return sendConsolePage(request, reply.code(problems.length > 0 ? 400 : 200), 'console/list', shown, {
      section: section.id,
    })
  })
}

const mayExport = ({ exported, exportRole }: ListPage, { role }: PageContext): boolean =>
  exported !== undefined && (exportRole === undefined || allows(role, exportRole))

/** Problems of the filters are shown with the form, without a list. */
async function readList(page: ListPage, context: PageContext, format: string | undefined) {
  const nothing = { table: null, next: null, file: null }
  try {
    if (format === undefined || !page.exported) return { ...nothing, ...(await page.read(context)), problems: [] }
    if (page.exportRole) await context.admit(page.exportRole, `${page.operation} export`)
    return {
      ...nothing,
      file: await page.exported(context, parseInput(exportQuery, { export: format }).export),
      problems: [],
    }
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    return { ...nothing, problems: error.problems }
  }
}

function detailRoute(app: FastifyInstance, contextOf: ContextOf, section: Section, page: DetailPage): void {
  app.get(page.path, { preValidation: rolesOnly(page.operation) }, async (request, reply) => {
    const context = contextOf(request)
    const { actions, ...detail } = await page.read(context)
    const shown = {
      ...{ notice: '', texts: [], ...detail },
      actions: allowedTo(context, actions),
      othersMay: othersMay(context, actions),
      isDone: isDone(request),
    }
    return sendConsolePage(request, reply, 'console/detail', shown, { section: section.id })
  })
}

function formRoutes(app: FastifyInstance, contextOf: ContextOf, section: Section, form: FormPage): void {
  const preValidation = rolesOnly(form.operation)
  const confirm = async (
    request: FastifyRequest,
    reply: FastifyReply,
    context: PageContext,
    problems: readonly Problem[] = [],
  ) => {
    const { about, says, facts = [], fields = [], back, others = [] } = await form.confirm(context)
    const filled = fields.map((field) => ({ ...field, value: shownValue(field, context, problems.length > 0) }))
    const folded = filled.filter(({ isFolded }) => isFolded)
    const shown = {
      title: about === undefined ? context.t(form.title) : titled(context.t(form.title), about, context.t),
      button: context.t(form.button ?? form.title),
      isDangerous: form.isDangerous === true,
      says,
      facts,
      fields: filled.filter(({ isFolded }) => !isFolded),
      folded,
      // What is wrong or was filled in must be seen.
      isOpen: folded.some(
        ({ name, value }) =>
          problems.some(({ field }) => field.split(/[.[]/)[0] === name) ||
          value !== (fields.find((field) => field.name === name)?.value ?? ''),
      ),
      back,
      others: allowedTo(context, others),
      problems: shownProblems(problems, context.t, labelAmong(fields)),
      action: request.url,
    }
    const query = queryOf(request.url)
    return sendConsolePage(request, reply, 'console/confirm', shown, { section: section.id, query })
  }

  app.get(form.path, { preValidation }, (request, reply) => confirm(request, reply, contextOf(request)))

  app.post(form.path, { preValidation }, async (request, reply) => {
    const context = contextOf(request, form.exactly?.())
    try {
      const back = form.back(context)
      const once = await form.run(context)
      if (once && 'address' in once) return doneAt(reply, once.address)
      if (once && 'parts' in once) return sendDownload(reply, once)
      if (once) {
        const shown = { tone: 'plain', tables: [], texts: [], back, ...once, title: context.t(form.title) }
        return await sendConsolePage(request, reply, 'console/once', shown, { section: section.id, scripts: true })
      }
      return doneAt(reply, back)
    } catch (error) {
      const problems = problemsOf(error, context)
      if (!problems) throw error
      const shown = error instanceof StaleForm ? { ...context, fields: {} } : context
      return confirm(request, reply.code(400), shown, problems)
    }
  })
}

const doneAt = (reply: FastifyReply, page: string): FastifyReply =>
  seeOther(reply, `${page}${page.includes('?') ? '&' : '?'}done=1`)

/**
 * What was typed, or the value that the page suggests. Hidden fields always get their present value. Browsers send
 * nothing if no box is checked, so after a form without a value none is.
 */
function shownValue({ name, kind, value = '' }: Field, { fields }: PageContext, wasTyped: boolean): string {
  if (kind === 'password') return ''
  if (kind === 'several' && wasTyped && Object.keys(fields).length > 0) return fields[name] ?? ''
  return kind === 'hidden' ? value : (fields[name] ?? value)
}

const labelAmong = (fields: readonly Field[]) => (name: string) => fields.find((field) => field.name === name)?.label

/** Problems that the operator can fix, for the form to show; undefined for other errors. */
function problemsOf(error: unknown, { locale }: PageContext): readonly Problem[] | undefined {
  if (error instanceof InvalidInput) return error.problems
  if (!(error instanceof RescodeError) || error.rescode !== 20007 || error.failure.status === 404) return undefined
  const { text, failure } = error
  return [{ field: 'body', problem: trafficTexts(locale).reason(failure.what ?? text) }]
}

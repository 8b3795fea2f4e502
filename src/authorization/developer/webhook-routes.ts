import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import { parseInput } from '../../platform/lib/json/input.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import { keyOf, type Translate } from '../../platform/lib/web/locale.ts'
import { noSuchPath, RescodeError } from '../../platform/lib/web/rescode.ts'
import { type OutboundDeps, WEBHOOK_PROBLEMS } from '../../platform/outbound/index.ts'
import { STEP_UP } from '../account/index.ts'
import { showMicroApp } from '../registry/index.ts'
import { APP_WEBHOOK } from '../teams/index.ts'
import { APP, type AppRequest, developerPages } from './guard.ts'
import { rotateForm } from './secret-routes.ts'

const WEBHOOK = `${APP}/webhook`
const PAGE_SIZE = 25
const TOO_MANY = 20003

const done = doneText({
  removed: 'developer.webhook.done_removed',
  same: 'developer.webhook.done_same',
  tested: 'developer.webhook.done_tested',
  again: 'developer.webhook.done_again',
})

/** An empty address removes the webhook; an absent one is invalid. */
const urlForm = z.object({ webhook_url: z.string().trim().optional().catch(undefined) }).catch({})
const anyQuery = z.record(z.string(), z.unknown()).catch({})

/** The webhook of an app: address and secret, for owners; deliveries and test messages, for the whole team. */
export const webhookRoutes: FastifyPluginAsync<{ deps: OutboundDeps }> = async (app, { deps }) => {
  const { forApp } = await developerPages(app, deps)
  const acting = ({ deps: { actor } }: AppRequest): OutboundDeps => ({ ...deps, ...(actor ? { actor } : {}) })

  async function deliveries(appKey: string, query: unknown) {
    const { after } = anyQuery.parse(query)
    const firstPage = { app_key: appKey, limit: PAGE_SIZE }
    const { data = firstPage } = APP_WEBHOOK.deliveries.input.safeParse({ ...firstPage, after })
    return APP_WEBHOOK.deliveries(deps, data)
  }

  /** `made`: a new secret, shown once. */
  async function show(context: AppRequest, shown: { alert?: string; made?: string; typed?: string } = {}) {
    const { app_key, role } = context.app
    const microApp = await showMicroApp(deps, app_key)
    const { events, next } = await deliveries(app_key, context.request.query)
    return context.page('home', 'developer/webhook', {
      typed: microApp.webhook_url ?? '',
      ...shown,
      done: done(context.request),
      app: { app_key, name: microApp.name, url: microApp.webhook_url, isOwner: role === 'owner' },
      secrets: role === 'owner' ? await APP_WEBHOOK.secrets(deps, app_key) : null,
      asks: !(await STEP_UP.isFresh(deps, context.person)),
      lacksFactor: (await STEP_UP.secondFactor(deps, context.person)) === 'none',
      // Without the user concerned: the app knows, but its team need not.
      events: events.map(({ event_id, type, state, attempts, last_status, last_error, created_at }) => ({
        ...{ id: event_id, type, state, attempts, status: last_status },
        problem: last_status === null ? webhookProblem(last_error, context.t) : null,
        at: created_at.toISOString(),
      })),
      next,
      kinds: APP_WEBHOOK.types.map((type) => [type, context.t(keyOf('developer.webhook.', type))]),
    })
  }

  forApp.developer.get(WEBHOOK, (context) => show(context))

  const form = { page: WEBHOOK, show: (context: AppRequest, alert: string) => show(context, { alert }) }

  const typedUrl = ({ request }: AppRequest) => urlForm.parse(request.body).webhook_url
  const address = {
    page: WEBHOOK,
    show: (context: AppRequest, alert: string) => show(context, { alert, typed: typedUrl(context) ?? '' }),
    unfit: 'developer.webhook.unfit',
    sensitive: true,
  } as const
  forApp.owner.form(WEBHOOK, address, async (context) => {
    const typed = typedUrl(context)
    const url = parseInput(APP_WEBHOOK.set.input, { webhook_url: typed === '' ? null : typed })
    const made = await APP_WEBHOOK.set(acting(context), context.app.app_key, url, context.person)
    if (made !== undefined) return show(context, { made })
    return typed === '' ? '?done=removed' : '?done=same'
  })

  forApp.owner.form(`${WEBHOOK}/secret`, { ...form, sensitive: true }, async (context) => {
    const rotation = parseInput(rotateForm, context.request.body ?? {})
    const made = await APP_WEBHOOK.rotate(acting(context), context.app.app_key, rotation, context.person)
    return show(context, { made })
  })

  /** Shows the page with an alert after too many requests. */
  async function orTooMany(context: AppRequest, next: string, work: Promise<unknown>) {
    try {
      await work
      return next
    } catch (error) {
      if (!(error instanceof RescodeError) || error.rescode !== TOO_MANY) throw error
      context.reply.code(429).headers({ ...error.failure.headers })
      return show(context, { alert: context.t('developer.webhook.too_many') })
    }
  }

  forApp.developer.form(`${WEBHOOK}/test`, form, (context) =>
    orTooMany(context, '?done=tested', APP_WEBHOOK.test(acting(context), context.app.app_key, context.person)),
  )

  forApp.developer.form(`${WEBHOOK}/events/:event_id/retry`, form, async (context) => {
    const event = APP_WEBHOOK.retry.input.safeParse(context.request.params).data
    if (!event) throw noSuchPath()
    const { app_key } = context.app
    return orTooMany(context, '?done=again', APP_WEBHOOK.retry(acting(context), app_key, event, context.person))
  })
}

/** Stored problem of a failed attempt → text for the team. */
const TEXTS: Readonly<Record<string, string>> = {
  [WEBHOOK_PROBLEMS.unreachable]: 'developer.webhook.problem.unreachable',
  [WEBHOOK_PROBLEMS.tls]: 'developer.webhook.problem.tls',
  [WEBHOOK_PROBLEMS.timeout]: 'developer.webhook.problem.timeout',
  [WEBHOOK_PROBLEMS['too-large']]: 'developer.webhook.problem.too_large',
  [WEBHOOK_PROBLEMS.broken]: 'developer.webhook.problem.broken',
  [WEBHOOK_PROBLEMS.none]: 'developer.webhook.problem.none',
}

const webhookProblem = (kept: string | null, t: Translate): string | null =>
  kept && t(TEXTS[kept] ?? 'developer.webhook.problem.ours')

import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { z } from 'zod'
import { offeredOverlap } from '../../platform/lib/crypto/generated-secret.ts'
import { InvalidInput, parseInput } from '../../platform/lib/json/input.ts'
import { doneQueryOf } from '../../platform/lib/web/done-query.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { noSuchPath, RescodeError } from '../../platform/lib/web/rescode.ts'
import { type OutboundDeps, WEBHOOK_PROBLEMS } from '../../platform/outbound/index.ts'
import { STEP_UP } from '../account/index.ts'
import { showMicroApp } from '../registry/index.ts'
import { APP_WEBHOOK } from '../teams/index.ts'
import { type AppRequest, developerGuard, HOME, sensitive, translatorOf } from './guard.ts'

const WEBHOOK = `${HOME}/apps/:app_key/webhook`
const ON_A_PAGE = 25
const TOO_MANY = 20003

const DONE = {
  removed: 'developer.webhook.done_removed',
  tested: 'developer.webhook.done_tested',
  again: 'developer.webhook.done_again',
} as const
const doneQuery = doneQueryOf(DONE)

const urlForm = z.object({ webhook_url: z.string().trim().catch('') })
const rotateForm = z.object({ overlap_s: offeredOverlap })
const anyQuery = z.record(z.string(), z.unknown()).catch({})

interface Shown {
  readonly alert?: string
  /** A secret, shown this once. */
  readonly made?: string
  /** The address as it was typed. */
  readonly typed?: string
}

/** The webhook of an app: its address and secret for owners, what was sent, and trying it, for the whole team. */
export const webhookRoutes: FastifyPluginAsync<{ deps: OutboundDeps }> = async (app, { deps }) => {
  const { forApp } = await developerGuard(app, deps)
  const pageOf = ({ app: { app_key } }: AppRequest): string => `${HOME}/apps/${app_key}/webhook`

  async function deliveries(appKey: string, query: unknown) {
    const { after } = anyQuery.parse(query)
    const asked = { app_key: appKey, limit: ON_A_PAGE }
    const { data = asked } = APP_WEBHOOK.deliveries.input.safeParse({ ...asked, after })
    return APP_WEBHOOK.deliveries(deps, data)
  }

  async function show(given: AppRequest, shown: Shown = {}): Promise<FastifyReply> {
    const { app_key, role } = given.app
    const found = await showMicroApp(deps, app_key)
    const { events, next } = await deliveries(app_key, given.request.query)
    const { done } = doneQuery.parse(given.request.query)
    const t = translatorOf(given)
    return given.page('home', 'developer/webhook', {
      alert: '',
      made: '',
      typed: found.webhook_url ?? '',
      ...shown,
      done: done ? t(DONE[done]) : null,
      app: { app_key, name: found.name, url: found.webhook_url, isOwner: role === 'owner' },
      lacksFactor: (await STEP_UP.secondFactor(deps, given.person)) === 'none',
      // Without whom it was about: the app knows that, its team need not.
      events: events.map(({ event_id, type, state, attempts, last_status, last_error, created_at }) => ({
        ...{ id: event_id, type, state, attempts, status: last_status },
        problem: last_status === null ? webhookProblem(last_error, t) : null,
        at: created_at.toISOString(),
      })),
      next,
    })
  }

  const guarded = (given: AppRequest, work: () => Promise<FastifyReply>, typed?: string) =>
    sensitive(deps, given, {
      path: pageOf(given),
      show: (alert) => show(given, { alert, ...(typed === undefined ? {} : { typed }) }),
      work,
    })

  app.get(
    WEBHOOK,
    forApp('developer', (given) => show(given)),
  )

  app.post(
    WEBHOOK,
    forApp('owner', (given) => {
      const { webhook_url: typed } = parseInput(urlForm, given.request.body ?? {})
      const work = async () => {
        const made = await APP_WEBHOOK.set(acting(given), given.app.app_key, givenBy(typed), given.person)
        if (made !== undefined) return show(given, { made })
        return given.goTo(typed === '' ? `${pageOf(given)}?done=removed` : pageOf(given))
      }
      return guarded(given, () => orUnfit(given, typed, work), typed)
    }),
  )

  const acting = ({ deps: { actor } }: AppRequest): OutboundDeps => ({ ...deps, ...(actor ? { actor } : {}) })

  const givenBy = (typed: string) => parseInput(APP_WEBHOOK.set.input, { webhook_url: typed === '' ? null : typed })

  async function orUnfit(given: AppRequest, typed: string, work: () => Promise<FastifyReply>): Promise<FastifyReply> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      given.reply.code(400)
      return show(given, { alert: translatorOf(given)('developer.webhook.unfit'), typed })
    }
  }

  app.post(
    `${WEBHOOK}/secret`,
    forApp('owner', (given) =>
      guarded(given, async () => {
        const form = parseInput(rotateForm, given.request.body ?? {})
        return show(given, { made: await APP_WEBHOOK.rotate(acting(given), given.app.app_key, form, given.person) })
      }),
    ),
  )

  /** Says so where there were too many in a minute. */
  async function orTooMany(given: AppRequest, done: keyof typeof DONE, work: () => Promise<unknown>) {
    try {
      await work()
      return given.goTo(`${pageOf(given)}?done=${done}`)
    } catch (error) {
      if (!(error instanceof RescodeError) || error.rescode !== TOO_MANY) throw error
      given.reply.code(429).headers({ ...error.failure.headers })
      return show(given, { alert: translatorOf(given)('developer.webhook.too_many') })
    }
  }

  app.post(
    `${WEBHOOK}/test`,
    forApp('developer', (given) =>
      orTooMany(given, 'tested', () => APP_WEBHOOK.test(acting(given), given.app.app_key, given.person)),
    ),
  )

  app.post(
    `${WEBHOOK}/events/:event_id/retry`,
    forApp('developer', (given) => {
      const { event_id } = given.request.params as { event_id: string }
      const event = APP_WEBHOOK.retry.input.safeParse({ app_key: given.app.app_key, event_id }).data
      if (!event) throw noSuchPath()
      return orTooMany(given, 'again', () => APP_WEBHOOK.retry(acting(given), given.app.app_key, event, given.person))
    }),
  )

  // Opened directly, as by a language link of the page that answers the form.
  for (const path of ['secret', 'test', 'events/:event_id/retry'])
    app.get(
      `${WEBHOOK}/${path}`,
      forApp('developer', async (given) => given.goTo(pageOf(given))),
    )
}

/** By what is kept of a failed attempt: how the team reads it. */
const TEXTS: Readonly<Record<string, string>> = {
  [WEBHOOK_PROBLEMS.unreachable]: 'developer.webhook.problem.unreachable',
  [WEBHOOK_PROBLEMS.tls]: 'developer.webhook.problem.tls',
  [WEBHOOK_PROBLEMS.timeout]: 'developer.webhook.problem.timeout',
  [WEBHOOK_PROBLEMS['too-large']]: 'developer.webhook.problem.too_large',
  [WEBHOOK_PROBLEMS.broken]: 'developer.webhook.problem.broken',
  [WEBHOOK_PROBLEMS.none]: 'developer.webhook.problem.none',
}

/** Why an attempt failed that has no status; null where none did. */
const webhookProblem = (kept: string | null, t: Translate): string | null =>
  kept && t(TEXTS[kept] ?? 'developer.webhook.problem.ours')

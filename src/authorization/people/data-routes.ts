import type {} from '@fastify/cookie'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { asPerson } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'
import { type OutputOf, parseInput } from '../../platform/lib/json/input.ts'
import { scopeTextKey } from '../../platform/lib/scope.ts'
import { addDays, isTimeZone, localDate, startOfDay } from '../../platform/lib/time-zone.ts'
import { sendDownload } from '../../platform/lib/web/download.ts'
import { JSON_TYPE } from '../../platform/lib/web/envelope.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { STEP_UP } from '../account/index.ts'
import { ownGrants } from '../oauth/index.ts'
import { type AccessKind, readsByDay } from '../resource/index.ts'
import { accountPages, type PersonRequest } from './account-guard.ts'
import { cancelDeletion, deletionMode, deletionOf, requestDeletion } from './deletion.ts'
import { appsByKey, knownApps } from './known-apps.ts'
import { countErasable, exportUser } from './person-data.ts'

const PATH = '/account'
/** The app that was just withdrawn, and which page of the list; unusable values count as absent. */
const pageQuery = z
  .object({
    withdrawn: z.string().optional().catch(undefined),
    page: z.coerce.number().int().min(1).max(1_000).catch(1),
  })
  .catch({ withdrawn: undefined, page: 1 })

/** Apps that the person has allowed something, and withdrawal of that. */
export const appsRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const pages = await accountPages(app, deps)

  pages.get(PATH, async ({ request, person, page, t }) => {
    await app.accessLedger.flushOf(person)
    const query = pageQuery.parse(request.query)
    const { apps, hasMore, withdrawn } = await knownApps(deps, person, query)
    return page('apps', 'people/apps', {
      done: withdrawn && t('account.withdrawn_now', { app: withdrawn }),
      newer: query.page > 1 ? query.page - 1 : null,
      older: hasMore ? query.page + 1 : null,
      apps: apps.filter(({ since }) => since !== null).map((known) => shownApp(known, t)),
      former: apps.filter(({ since }) => since === null).map((known) => shownApp(known, t)),
    })
  })

  // Idempotent: repeated, or from several tabs, the app ends up without access, and the page says so.
  pages.form('/account/apps/withdraw', PATH, async ({ request, person, deps: acting }) => {
    const withdrawal = parseInput(ownGrants.withdraw.input, request.body)
    await ownGrants.withdraw(acting, withdrawal, person)
    return `?${new URLSearchParams({ withdrawn: withdrawal.app_key })}`
  })
}

type KnownApp = OutputOf<typeof knownApps>['apps'][number]

function shownApp({ scopes, since, withdrawnAt, reads, ...app }: KnownApp, t: Translate) {
  return {
    ...app,
    may: scopesInWords(scopes, t),
    since: since?.toISOString() ?? null,
    withdrawnAt: withdrawnAt?.toISOString() ?? null,
    reads: reads.map(({ kind, reads, last_at }) => ({ at: last_at.toISOString(), text: readInWords(kind, reads, t) })),
  }
}

const READS = '/account/reads'
const DATA = '/account/data'
const DAYS_A_PAGE = 31
/** Rows of one kind, which can be very many: the page is opened often. */
const MOST_COUNTED = 10_000

/** Reads before this day are listed; unusable values count as absent. */
const readsQuery = z
  .object({
    before: z.iso
      .date()
      .regex(/^[2-9]/)
      .optional(),
  })
  .catch({})

/** Time zone of the browser, from a cookie set by local-time.js, so that days match the local times shown. */
function timeZoneOf({ cookies }: FastifyRequest): string | undefined {
  const given = cookies.gatehouse_time_zone ?? ''
  return isTimeZone(given) ? given : undefined
}

export const dataRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const pages = await accountPages(app, deps)

  pages.get(READS, async ({ request, person, page, t }) => {
    await app.accessLedger.flushOf(person)
    const zone = timeZoneOf(request)
    const requested = readsQuery.parse(request.query).before
    const before = requested ?? addDays(localDate(deps.clock.now(), zone ?? 'UTC'), 1)
    const first = addDays(before, -DAYS_A_PAGE)
    const dates = Array.from({ length: DAYS_A_PAGE }, (_, index) => addDays(first, index))
    const starts = [...dates, before].map((date) => startOfDay(date, zone ?? 'UTC')) as [Date, ...Date[]]
    const { days, more } = await readsByDay(deps.db, person, starts)
    const apps = await appsByKey(deps, [...new Set(days.map(({ app_key }) => app_key))])
    const reads = days.map(({ place, app_key, kind, reads, last_at }) => ({
      day: dates[place] ?? '',
      app: apps.get(app_key)?.name ?? app_key,
      logoUrl: apps.get(app_key)?.logo_url ?? null,
      text: readInWords(kind, reads, t),
      at: last_at.toISOString(),
    }))
    const byDay = [...new Set(reads.map(({ day }) => day))].map((day) => ({
      day,
      title: zone ? day : t('account.reads.utc_day', { day }),
      reads: reads.filter((read) => read.day === day),
    }))
    return page('reads', 'people/reads', {
      byDay,
      older: more ? first : null,
      isNewest: requested === undefined,
      zone: zone ?? '',
      days: String(deps.config.ACCESS_LEDGER_DAYS),
    })
  })

  pages.get(DATA, async ({ person, page, t }) => {
    const user = { cid: person.cid, user_id: person.userId }
    const { rows } = await countErasable(deps, user, MOST_COUNTED)
    const deletion = await deletionOf(deps, user)
    return page('data', 'people/data', {
      rows: kindsInWords(rows, MOST_COUNTED, t),
      asks: !(await STEP_UP.isFresh(deps, person)),
      mode: deletionMode(deps, person),
      askedAt: deletion?.requested_at.toISOString() ?? null,
      dueAt: deletion?.due_at?.toISOString() ?? null,
    })
  })

  pages.form('/account/deletion', DATA, async ({ reply, person, deps: acting }) => {
    if (!(await STEP_UP.isFresh(deps, person))) return STEP_UP.ask(reply, DATA, true)
    await requestDeletion(acting, person)
    return '#deletion'
  })

  pages.form('/account/deletion/cancel', DATA, async ({ person, deps: acting }) => {
    await cancelDeletion(acting, person)
    return '#deletion'
  })

  const download = async ({ reply, person, deps: acting }: PersonRequest) => {
    if (!(await STEP_UP.isFresh(deps, person))) return STEP_UP.ask(reply, DATA, true)
    const actor = asPerson(acting.actor, person)
    const input = { cid: person.cid, user_id: person.userId, reason: 'asked for by the person' }
    const parts = await exportUser({ ...acting, actor }, input)
    return sendDownload(reply, { name: 'person.json', type: JSON_TYPE, parts })
  }
  pages.get(`${DATA}/person.json`, download, { config: { answersHead: false } }) // the audit log records each download
}

/** What an app may read, in words, without repetitions. */
const scopesInWords = (scopes: readonly string[], t: Translate): string =>
  [...new Set(scopes.map(scopeTextKey).filter((key) => t.has(key)))].map((key) => t(key)).join(t('layout.between'))

/** "Your phone number 12 times, last on …"; a line feed is the placeholder for the time. */
function readInWords(kind: AccessKind, reads: number, t: Translate): string {
  const times =
    reads === 1 ? t('account.times.one') : t('account.times.more', { count: reads.toLocaleString(t.locale) })
  return t(kind === 'phone' ? 'account.phone.read' : 'account.profile.read', { times, when: '\n' })
}

/** Kinds of data about a person, in words, with their counts up to `most`; empty kinds are left out. */
const kindsInWords = (rows: Readonly<Record<string, number>>, most: number, t: Translate): [string, string][] =>
  Object.entries(rows)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => {
      const key = `account.data.${what}`
      const number = count.toLocaleString(t.locale)
      const shown = count < most ? number : t('account.data.at_least', { count: number })
      return [t.has(key) ? t(key) : what.replaceAll('_', ' '), shown]
    })

import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { parseInput } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { ownGrants } from '../oauth/index.ts'
import { accountPages } from './account-guard.ts'
import { readInWords, scopesInWords } from './account-texts.ts'
import { type KnownApp, knownApps } from './known-apps.ts'

const PATH = '/account'
/** The app that was just withdrawn; unusable values count as absent. */
const pageQuery = z.object({ withdrawn: z.string().optional() }).catch({})

/** Apps that the person has allowed something, and withdrawal of that. */
export const appsRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const pages = await accountPages(app, deps)

  pages.get(PATH, async ({ request, person, page, t }) => {
    await app.accessLedger.flushOf(person)
    const apps = await knownApps(deps, person)
    const { withdrawn } = pageQuery.parse(request.query)
    const done = apps.find(({ appKey, withdrawnAt }) => appKey === withdrawn && withdrawnAt !== null)
    return page('apps', 'people/apps', {
      done: done && t('account.withdrawn_now', { app: done.name }),
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

function shownApp({ scopes, since, withdrawnAt, reads, ...app }: KnownApp, t: Translate) {
  return {
    ...app,
    may: scopesInWords(scopes, t),
    since: since?.toISOString() ?? null,
    withdrawnAt: withdrawnAt?.toISOString() ?? null,
    reads: reads.map(({ kind, reads, last_at }) => ({ at: last_at.toISOString(), text: readInWords(kind, reads, t) })),
  }
}

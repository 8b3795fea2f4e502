import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { type OutputOf, parseInput } from '../../platform/lib/json/input.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { ownGrants } from '../oauth/index.ts'
import { accountPages } from './account-guard.ts'
import { readInWords, scopesInWords } from './account-texts.ts'
import { knownApps } from './known-apps.ts'

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

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
/** Which app the page tells of; anything unusable counts as not given. */
const pageQuery = z.object({ withdrawn: z.string().optional() }).catch({})

/** What the person has allowed which app, and its withdrawal. */
export const appsRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const pages = await accountPages(app, deps)

  pages.get(PATH, async ({ request, person, page, t }) => {
    await app.accessLedger.flushOf(person)
    const known = await knownApps(deps, person)
    const { withdrawn } = pageQuery.parse(request.query)
    const done = known.find(({ appKey, withdrawnAt }) => appKey === withdrawn && withdrawnAt !== null)
    return page('apps', 'people/apps', {
      done: done && t('account.withdrawn_now', { app: done.name }),
      apps: known.filter(({ since }) => since !== null).map((one) => shownApp(one, t)),
      former: known.filter(({ since }) => since === null).map((one) => shownApp(one, t)),
    })
  })

  // Any number of times, and in several tabs: the app has no access afterwards, and the page says so.
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
    reads: reads.map((one) => ({ at: one.last_at.toISOString(), text: readInWords(one.kind, one.reads, t) })),
  }
}

import type { Deps } from '../../platform/deps.ts'
import type { SignedIn } from '../account/index.ts'
import { ownGrants } from '../oauth/index.ts'
import { totalsOfUser } from '../resource/index.ts'
import { type AppOfPerson, findApps } from './store.ts'

const PAGE_SIZE = 50

/**
 * A page of the apps that the person has allowed something: first those with access (`since`), the newest first, then
 * those that lost it in the last year. `withdrawn`: the name of the app asked about, if it has lost its access.
 */
export async function knownApps(
  deps: Deps,
  person: SignedIn,
  { page, withdrawn: asked }: { readonly page: number; readonly withdrawn?: string | undefined },
) {
  const allowed = await ownGrants.allowed(deps, person)
  const ordered = [...allowed.filter(({ since }) => since), ...allowed.filter(({ since }) => !since)]
  const shown = ordered.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  const reads = await totalsOfUser(deps.db, person)
  const withdrawn = allowed.filter(({ app_key, since }) => app_key === asked && !since)
  const keys = [...shown, ...withdrawn].map(({ app_key }) => app_key)
  const apps = await appsByKey(deps, keys)
  const nameOf = (appKey: string): string => apps.get(appKey)?.name ?? appKey
  const known = shown.map(({ app_key: appKey, scopes, since, withdrawn_at }) => {
    const app = apps.get(appKey)
    return {
      appKey,
      name: nameOf(appKey),
      logoUrl: app?.logo_url ?? null,
      hosts: app ? hostsOf(app) : [],
      scopes,
      since,
      withdrawnAt: since ? null : withdrawn_at,
      reads: reads.filter(({ app_key }) => app_key === appKey),
    }
  })
  return {
    apps: known,
    hasMore: ordered.length > page * PAGE_SIZE,
    withdrawn: withdrawn.map(({ app_key }) => nameOf(app_key))[0],
  }
}

export const appsByKey = async ({ db }: Deps, keys: readonly string[]): Promise<Map<string, AppOfPerson>> =>
  new Map((await findApps(db, keys)).map((app) => [app.app_key, app]))

const MAX_HOSTS = 3

/** An app with registered redirect URIs uses only these. */
function hostsOf({ hosts, redirect_uris }: AppOfPerson): string[] {
  const exact = redirect_uris.map((uri) => new URL(uri).host).filter((host) => host !== '')
  return [...new Set(exact.length > 0 ? exact : hosts)].slice(0, MAX_HOSTS)
}

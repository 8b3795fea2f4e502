import type { Deps } from '../../platform/deps.ts'
import type { SignedIn } from '../account/index.ts'
import { ownGrants } from '../oauth/index.ts'
import { type TotalReads, totalsOfUser } from '../resource/index.ts'
import { type AppOfPerson, findApps } from './store.ts'

/** An app that a person has allowed something, and what it has read. */
export interface KnownApp {
  readonly appKey: string
  readonly name: string
  /** Null where the app has none, or is gone. */
  readonly logoUrl: string | null
  /** Where it sends people back to, a few of them. */
  readonly hosts: readonly string[]
  /** What it may learn now; empty where it may nothing any more. */
  readonly scopes: readonly string[]
  /** Since when it may; null where it may nothing. */
  readonly since: Date | null
  /** When it lost access; null where it has access. */
  readonly withdrawnAt: Date | null
  readonly reads: readonly TotalReads[]
}

/** The apps that a person has allowed something, and those that lost access in the last year. */
export async function knownApps(deps: Deps, person: SignedIn): Promise<KnownApp[]> {
  const allowed = await ownGrants.allowed(deps, person)
  const reads = await totalsOfUser(deps.db, person)
  const apps = await appsByKey(
    deps,
    allowed.map(({ app_key }) => app_key),
  )
  return allowed.map(({ app_key: appKey, scopes, since, withdrawn_at }) => {
    const app = apps.get(appKey)
    return {
      appKey,
      name: app?.name ?? appKey,
      logoUrl: app?.logo_url ?? null,
      hosts: app ? hostsOf(app) : [],
      scopes,
      since,
      withdrawnAt: since ? null : withdrawn_at,
      reads: reads.filter(({ app_key }) => app_key === appKey),
    }
  })
}

export const appsByKey = async ({ db }: Deps, keys: readonly string[]): Promise<Map<string, AppOfPerson>> =>
  new Map((await findApps(db, keys)).map((app) => [app.app_key, app]))

const MOST_HOSTS = 3

/** Exact addresses are all that counts where an app has some. */
function hostsOf({ hosts, redirect_uris }: AppOfPerson): string[] {
  const exact = redirect_uris.map((uri) => new URL(uri).host).filter((host) => host !== '')
  return [...new Set(exact.length > 0 ? exact : hosts)].slice(0, MOST_HOSTS)
}

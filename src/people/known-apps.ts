import type { SignedIn } from '../account/index.ts'
import type { Deps } from '../deps.ts'
import { listGrants } from '../oauth/index.ts'
import { type TotalReads, totalsOfUser } from '../resource/index.ts'
import { namesOfApps } from './store.ts'

/** An app that a person has allowed something, and what it has read. */
export interface KnownApp {
  readonly name: string
  /** Null where the app has none, or is gone. */
  readonly logoUrl: string | null
  /** What it may learn now; empty where it may nothing any more. */
  readonly scopes: readonly string[]
  readonly reads: readonly TotalReads[]
}

/** The newest grants that are looked at. */
const MAX_GRANTS = 200

/** The apps of a person's newest grants, and those that have read something; who has read last comes first. */
export async function knownApps(deps: Deps, { routingKey, cid, userId }: SignedIn): Promise<KnownApp[]> {
  const { grants } = await listGrants(deps, listGrants.input.parse({ cid, user_id: userId, limit: MAX_GRANTS }))
  const reads = await totalsOfUser(deps.db, { routingKey, cid, userId })
  const live = grants.filter(({ revoked_at }) => revoked_at === null)
  const keys = [...new Set([...reads, ...live].map(({ app_key }) => app_key))]
  const names = new Map((await namesOfApps(deps.db, keys)).map((app) => [app.app_key, app]))
  return keys.map((key) => ({
    name: names.get(key)?.name ?? key,
    logoUrl: names.get(key)?.logo_url ?? null,
    scopes: [...new Set(live.filter(({ app_key }) => app_key === key).flatMap(({ scopes }) => scopes))],
    reads: reads.filter(({ app_key }) => app_key === key),
  }))
}

import { DAY_S } from '../../platform/db/retention.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { takeEndingSecrets } from '../registry/index.ts'
import { tellApp } from './events.ts'

const SOON_S = 7 * DAY_S
const AT_ONCE = 100

/** Tells each app whose secret ends within a week, once a secret. */
export async function tellOfEndingSecrets(deps: Deps, signal: AbortSignal): Promise<void> {
  for (let taken = AT_ONCE; taken === AT_ONCE && !signal.aborted; ) {
    const now = deps.clock.now()
    taken = await deps.db.tx(async (db) => {
      const found = await takeEndingSecrets(db, { now, until: addSeconds(now, SOON_S), limit: AT_ONCE })
      for (const { app_key, created_at, ends_at } of found) {
        const detail = { created_at: created_at.toISOString(), ends_at: ends_at.toISOString() }
        await tellApp({ ...deps, db }, { appKey: app_key, type: 'secret.expiring', detail })
      }
      return found.length
    })
  }
}

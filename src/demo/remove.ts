import { recordAudit } from '../audit/store.ts'
import type { Deps } from '../deps.ts'
import {
  deleteDemoApps,
  deleteDemoGrants,
  deleteDemoPartners,
  deleteDemoUsers,
  disableDemoPartners,
} from './marked-store.ts'

/** How many rows of each kind are gone; a partner that orders refer to is kept, suspended and without secrets or URLs. */
export interface RemovedDemo {
  readonly micro_apps: number
  readonly users: number
  readonly partners: number
  readonly partners_kept: number
}

/** Takes the demo out of a database: afterwards none of its passwords and secrets opens anything. Done twice, it does nothing. */
export const removeDemo = ({ db, clock }: Deps): Promise<RemovedDemo> =>
  db.tx(async (inside) => {
    const now = clock.now()
    await deleteDemoGrants(inside)
    const removed = {
      micro_apps: await deleteDemoApps(inside),
      users: await deleteDemoUsers(inside),
      partners: await deleteDemoPartners(inside),
      partners_kept: await disableDemoPartners(inside, now),
    }
    if (Object.values(removed).some((count) => count > 0)) {
      await recordAudit(inside, { at: now, event: 'demo_removed', actor: 'cli', detail: removed })
    }
    return removed
  })

import { DEMO_USERS } from '../authorization/account/index.ts'
import { deleteGrantsOf } from '../authorization/oauth/index.ts'
import { DEMO_APPS } from '../authorization/registry/index.ts'
import { recordAudit } from '../platform/audit/index.ts'
import type { Deps } from '../platform/deps.ts'
import { deleteProductsOf } from '../ticketing/catalogue/index.ts'
import { partnersWithOrders } from '../ticketing/orders/index.ts'
import { DEMO_PARTNERS } from '../ticketing/partners/index.ts'

/** How many rows of each kind are gone; a partner that orders refer to is kept, suspended and without secrets or URLs. */
export interface RemovedDemo {
  readonly micro_apps: number
  readonly users: number
  readonly partners: number
  readonly partners_kept: number
}

/** Takes the demo out of a database: afterwards none of its passwords and secrets opens anything. Done twice, it does nothing. */
export const removeDemo = (deps: Deps): Promise<RemovedDemo> =>
  deps.db.tx(async (inside) => {
    const now = deps.clock.now()
    const partners = await DEMO_PARTNERS.keys(inside)
    const kept = await partnersWithOrders(inside, partners)
    await deleteGrantsOf(inside, await DEMO_USERS.keys(inside), await DEMO_APPS.keys(inside))
    await deleteProductsOf(
      inside,
      partners.filter((partner) => !kept.includes(partner)),
    )
    const micro_apps = await DEMO_APPS.remove(inside)
    const users = await DEMO_USERS.remove(inside)
    const gone = await DEMO_PARTNERS.remove(inside, kept, now)
    const removed = { micro_apps, users, partners: gone.removed, partners_kept: gone.disabled }
    if (Object.values(removed).some((count) => count > 0)) {
      await recordAudit({ ...deps, db: inside }, { event: 'demo_removed', detail: removed })
    }
    return removed
  })

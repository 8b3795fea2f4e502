import { DEMO_USERS } from '../authorization/account/index.ts'
import { deleteGrantsOf } from '../authorization/oauth/index.ts'
import { DEMO_APPS } from '../authorization/registry/index.ts'
import { recordAudit } from '../platform/audit/index.ts'
import type { Db } from '../platform/db/sql.ts'
import { type Deps, inTransaction } from '../platform/deps.ts'
import { deleteProductsOf } from '../ticketing/catalogue/index.ts'
import { partnersWithOrders } from '../ticketing/orders/index.ts'
import { DEMO_PARTNERS } from '../ticketing/partners/index.ts'
import { hasTables } from './store.ts'

/**
 * Takes the demo out of a database, and counts what is gone: afterwards none of its passwords and secrets opens anything. A
 * partner that orders refer to is kept, suspended and without secrets or URLs. Done twice, it does nothing.
 */
export const removeDemo = (deps: Deps) =>
  inTransaction(deps, async (inside, db) => {
    const now = deps.clock.now()
    const partners = await DEMO_PARTNERS.keys(db)
    const kept = await partnersWithOrders(db, partners)
    await deleteGrantsOf(db, await DEMO_USERS.keys(db), await DEMO_APPS.keys(db))
    await deleteProductsOf(
      db,
      partners.filter((partner) => !kept.includes(partner)),
    )
    const micro_apps = await DEMO_APPS.remove(db)
    const users = await DEMO_USERS.remove(db)
    const gone = await DEMO_PARTNERS.remove(db, kept, now)
    const removed = { micro_apps, users, partners: gone.removed, partners_kept: gone.disabled }
    if (Object.values(removed).some((count) => count > 0)) {
      await recordAudit(inside, { event: 'demo_removed', detail: removed })
    }
    return removed
  })

/**
 * For the start in production: throws while something of the demo is active in the database, however it got there (the
 * demo ran on it once, or the database is a copy of such a one). Its passwords and secrets are in src/demo/README.md.
 */
export async function refuseDemoRows({ db }: Pick<Deps, 'db'>): Promise<void> {
  const active = await findActiveDemo(db)
  if (active.length === 0) return
  const rows = active.map(({ kind, name, status }) => `${kind} ${name} (${status})`).join(', ')
  throw new Error(
    `the database contains the demo, whose passwords and secrets are public in the README: ${rows}\n` +
      'remove it with the same settings: npx gatehouse demo remove',
  )
}

/** What of the demo is neither suspended nor blocked; nothing in a database without tables. */
async function findActiveDemo(db: Db) {
  if (!(await hasTables(db))) return []
  const rows = {
    'micro-app': await DEMO_APPS.findActive(db),
    partner: await DEMO_PARTNERS.findActive(db),
    user: await DEMO_USERS.findActive(db),
  }
  return Object.entries(rows).flatMap(([kind, found]) => found.map((row) => ({ kind, ...row })))
}

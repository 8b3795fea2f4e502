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
 * Removes the demo from a database and returns the counts: afterwards none of its passwords and secrets works. A
 * partner with orders is kept, suspended and without secrets or URLs. Safe to repeat.
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
 * For the start in production: throws if something of the demo is active in the database, for example in a copy of one
 * that the demo ran on. Its passwords and secrets are public in src/demo/README.md.
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

/** The demo's rows that are neither suspended nor blocked; none in a database without tables. */
async function findActiveDemo(db: Db) {
  if (!(await hasTables(db))) return []
  const rows = {
    'micro-app': await DEMO_APPS.findActive(db),
    partner: await DEMO_PARTNERS.findActive(db),
    user: await DEMO_USERS.findActive(db),
  }
  return Object.entries(rows).flatMap(([kind, found]) => found.map((row) => ({ kind, ...row })))
}

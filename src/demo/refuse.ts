import { DEMO_USERS } from '../authorization/account/index.ts'
import { DEMO_APPS } from '../authorization/registry/index.ts'
import type { Db } from '../platform/db/sql.ts'
import type { Deps } from '../platform/deps.ts'
import { DEMO_PARTNERS } from '../ticketing/partners/index.ts'
import { DEMO_NAMES, DEMO_PARTNER } from './seed.ts'
import { demoSchema } from './store.ts'

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

/** A row of the demo, by the name that an operator knows. */
interface DemoRow {
  /** micro-app, partner or user. */
  readonly kind: string
  readonly name: string
  readonly status: string
}

/** What of the demo is neither suspended nor blocked, also in a database whose schema has no mark yet, or no tables. */
async function findActiveDemo(db: Db): Promise<DemoRow[]> {
  const { filled, marked } = await demoSchema(db)
  if (!filled) return []
  const rows = {
    'micro-app': await DEMO_APPS.findActive(db, marked ? undefined : DEMO_NAMES.appKeys),
    partner: await DEMO_PARTNERS.findActive(db, marked ? undefined : DEMO_PARTNER),
    user: await DEMO_USERS.findActive(db, marked ? undefined : DEMO_NAMES),
  }
  return Object.entries(rows).flatMap(([kind, found]) => found.map((row) => ({ kind, ...row })))
}

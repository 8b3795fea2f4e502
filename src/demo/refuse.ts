import { findActiveDemoUsers, findActiveDemoUsersByName } from '../account/index.ts'
import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { type DemoRow, demoSchema, findActiveDemoParties, findActiveDemoPartiesByName } from '../registry/index.ts'
import { DEMO_NAMES, DEMO_PARTNER } from './seed.ts'

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

/** What of the demo is neither suspended nor blocked, also in a database whose schema has no mark yet, or no tables. */
async function findActiveDemo(db: Db): Promise<DemoRow[]> {
  const { filled, marked } = await demoSchema(db)
  if (!filled) return []
  const parties = marked
    ? await findActiveDemoParties(db)
    : await findActiveDemoPartiesByName(db, { ...DEMO_PARTNER, appKeys: DEMO_NAMES.appKeys })
  const users = marked
    ? await findActiveDemoUsers(db)
    : await findActiveDemoUsersByName(db, DEMO_NAMES.cid, DEMO_NAMES.users)
  return [...parties, ...users.map((user) => ({ kind: 'user', ...user }) as const)]
}

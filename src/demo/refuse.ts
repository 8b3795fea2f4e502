import type { Deps } from '../deps.ts'
import { findActiveDemo } from './marked-store.ts'

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

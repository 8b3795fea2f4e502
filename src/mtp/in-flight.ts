import type { Db } from '../db/sql.ts'

const inFlight = new WeakMap<Db, Map<string, Promise<string>>>()

/**
 * Does the work, or waits if this process is already doing the same work. Other processes wait in the database with one
 * connection each; without this, a slow notice that its partner keeps repeating would occupy all our connections.
 */
export function joinInFlight(db: Db, key: string, work: () => Promise<string>): Promise<string> {
  const current = inFlight.get(db) ?? new Map<string, Promise<string>>()
  inFlight.set(db, current)
  const joined = current.get(key) ?? work().finally(() => current.delete(key))
  current.set(key, joined)
  return joined
}

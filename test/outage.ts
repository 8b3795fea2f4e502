import type { Deps } from '../src/platform/deps.ts'
import { DatabaseUnavailable } from '../src/platform/lib/database-errors.ts'

/** The database is away: each write fails. `outcomeUnknown`: it was sent, and no answer came. */
export function duringOutage<Given extends Pick<Deps, 'db'>>(deps: Given, outcomeUnknown = false): Given {
  const fails = async (): Promise<never> => {
    throw new DatabaseUnavailable('the database is away', { cause: undefined, keepsConnection: false, outcomeUnknown })
  }
  return { ...deps, db: { ...deps.db, exec: fails, many: fails } }
}

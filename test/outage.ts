import type { Pool } from 'pg'
import type { Deps } from '../src/platform/deps.ts'
import { DatabaseUnavailable } from '../src/platform/lib/database-errors.ts'

/** The database is away: each write fails. `outcomeUnknown`: it was sent, and no answer came. */
export function duringOutage<Given extends Pick<Deps, 'db'>>(deps: Given, outcomeUnknown = false): Given {
  const fails = async (): Promise<never> => {
    throw new DatabaseUnavailable('the database is away', { cause: undefined, keepsConnection: false, outcomeUnknown })
  }
  return { ...deps, db: { ...deps.db, exec: fails, many: fails } }
}

/**
 * The database is away: from now on, or after `first` more, the pool gives out no connections, until the returned function
 * is called. It answers as a pool that has ended, but is none: that never gives out one again once its clients are gone.
 */
export function withoutConnections(pool: Pool, first = 0): () => void {
  const connect = pool.connect.bind(pool) as (answer?: Answer) => unknown
  let left = first
  const refused = (answer?: Answer) => {
    if (left-- > 0) return connect(answer)
    const error = new Error('Cannot use a pool after calling end on the pool')
    return answer ? answer(error) : Promise.reject(error)
  }
  Object.assign(pool, { connect: refused })
  return () => void Reflect.deleteProperty(pool, 'connect')
}
type Answer = (error: Error) => unknown

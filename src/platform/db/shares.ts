import { ConcurrencyLimit, type QueueLimits } from '../lib/concurrency-limit.ts'

/**
 * Bulkheads: how many of a process's connections the statements of each group of rooms hold at once, so that a table
 * which is slow or locked stops the groups that need it and no other. Beyond its share the work waits in a queue of its
 * own.
 *
 * Of nine connections (ten, less the one that /readyz has): partners' rooms together hold six, notices four of them;
 * sign-in and tokens hold eight; so A4 and A5 always find one, and tokens two more.
 */
const GROUPS = ['resource', 'oauth', 'notices', 'sandbox', 'operators', 'jobs'] as const
export type ConnectionGroup = (typeof GROUPS)[number]

export const byGroup = <Value>(of: (group: ConnectionGroup) => Value): Readonly<Record<ConnectionGroup, Value>> =>
  Object.fromEntries(GROUPS.map((group) => [group, of(group)])) as Record<ConnectionGroup, Value>

export interface Shares {
  readonly all: ConcurrencyLimit
  readonly of: (group: ConnectionGroup) => ConcurrencyLimit
  /** The one connection that belongs to no group. */
  readonly reserved: ConcurrencyLimit
  /** How much work waits for a connection, by group. */
  waiting(): Readonly<Record<ConnectionGroup, number>>
}

export function connectionShares(poolSize: number, limits: QueueLimits): Shares {
  const part = (name: string, most: number, within?: ConcurrencyLimit) =>
    new ConcurrencyLimit({
      name: `a database connection of ${name}`,
      most: Math.max(1, Math.floor(most)),
      within,
      ...limits,
    })
  const connections = poolSize - 1 // one is left for /readyz, where there are two
  const all = part('this process', connections)
  const exceptReads = part('all rooms but A4 and A5', connections - 1, all)
  const partners = part('all rooms of partners', (connections * 2) / 3, exceptReads)
  const groups: Readonly<Record<ConnectionGroup, ConcurrencyLimit>> = {
    resource: all,
    oauth: exceptReads,
    notices: part('notices', connections / 2, partners),
    sandbox: part('the sandbox', connections / 3, partners),
    operators: part('operators', connections / 3, partners),
    jobs: part('jobs', connections / 3, partners),
  }
  const waiting = () => byGroup((group) => groups[group].waiting)
  return { all, of: (group) => groups[group], reserved: part('/readyz', 1), waiting }
}

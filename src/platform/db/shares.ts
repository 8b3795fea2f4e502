import { ConcurrencyLimit, type QueueLimits } from '../lib/concurrency-limit.ts'

/**
 * Bulkheads: how many of a process's connections each group of rooms may hold at once, so that a slow or locked table
 * stops only the groups that need it. Beyond its share, a group's work waits in its own queue.
 *
 * Of nine connections (ten, less one for /readyz), partners' rooms may hold six in all, four of them for notices; all
 * rooms but A4 and A5 eight. So there is always one for A4 and A5, and two more that partners cannot take from tokens.
 */
const GROUPS = ['resource', 'oauth', 'notices', 'sandbox', 'operators', 'jobs'] as const
export type ConnectionGroup = (typeof GROUPS)[number]

export const byGroup = <Value>(of: (group: ConnectionGroup) => Value): Readonly<Record<ConnectionGroup, Value>> =>
  Object.fromEntries(GROUPS.map((group) => [group, of(group)])) as Record<ConnectionGroup, Value>

export type Shares = ReturnType<typeof connectionShares>

export function connectionShares(poolSize: number, limits: QueueLimits) {
  const share = (name: string, most: number, within?: ConcurrencyLimit) =>
    new ConcurrencyLimit({
      name: `a database connection of ${name}`,
      most: Math.max(1, Math.floor(most)),
      within,
      ...limits,
    })
  const connections = poolSize - 1 // one is left for /readyz, where there are two
  const all = share('this process', connections)
  const exceptReads = share('all rooms but A4 and A5', connections - 1, all)
  const partners = share('all rooms of partners', (connections * 2) / 3, exceptReads)
  const groups: Readonly<Record<ConnectionGroup, ConcurrencyLimit>> = {
    resource: all,
    oauth: exceptReads,
    notices: share('notices', connections / 2, partners),
    sandbox: share('the sandbox', connections / 3, partners),
    operators: share('operators', connections / 3, partners),
    jobs: share('jobs', connections / 3, partners),
  }
  return {
    all,
    of: (group: ConnectionGroup) => groups[group],
    /** The one connection that belongs to no group. */
    reserved: share('/readyz', 1),
    /** How many tasks wait for a connection, by group. */
    waiting: () => byGroup((group) => groups[group].waiting),
  }
}

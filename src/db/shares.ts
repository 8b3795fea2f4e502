import { type QueueLimits, Turns } from '../lib/turns.ts'

/**
 * Bulkheads: how many of a process's connections each room's statements hold at once, so that a table which is slow or
 * locked stops the rooms that need it and no other. Beyond its share a room's work waits in a queue of its own.
 *
 * Of nine connections (ten, less the one that /readyz has): partners' rooms together hold six, notices four of them;
 * sign-in and tokens hold eight; so A4 and A5 always find one, and tokens two more.
 */
export type Room = 'resource' | 'oauth' | 'notices' | 'sandbox' | 'operators' | 'jobs'

export interface Shares {
  readonly all: Turns
  readonly of: (room: Room) => Turns
  /** The one connection that belongs to no room. */
  readonly reserved: Turns
  /** How much work waits for a connection, by room. */
  waiting(): Readonly<Record<Room, number>>
}

export function connectionShares(poolSize: number, limits: QueueLimits): Shares {
  const part = (name: string, most: number, within?: Turns) =>
    new Turns({ name: `a database connection of ${name}`, most: Math.max(1, Math.floor(most)), within, ...limits })
  const connections = poolSize - 1 // one is left for /readyz, where there are two
  const all = part('this process', connections)
  const exceptReads = part('all rooms but A4 and A5', connections - 1, all)
  const partners = part('all rooms of partners', (connections * 2) / 3, exceptReads)
  const rooms: Readonly<Record<Room, Turns>> = {
    resource: all,
    oauth: exceptReads,
    notices: part('notices', connections / 2, partners),
    sandbox: part('the sandbox', connections / 3, partners),
    operators: part('operators', connections / 3, partners),
    jobs: part('jobs', connections / 3, partners),
  }
  const waiting = () => ({
    resource: all.waiting,
    oauth: exceptReads.waiting,
    notices: rooms.notices.waiting,
    sandbox: rooms.sandbox.waiting,
    operators: rooms.operators.waiting,
    jobs: rooms.jobs.waiting,
  })
  return { all, of: (room) => rooms[room], reserved: part('/readyz', 1), waiting }
}

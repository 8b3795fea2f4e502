import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { byShard } from '../../platform/db/shards.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { rowKeyOf, type UserKey } from '../account/index.ts'
import { type AccessKind, addReads, type CountedReads } from './access-store.ts'

export type { AccessKind }

/** What a token that works says of whose it is. */
interface TokenOf extends UserKey {
  readonly app_key: string
}

/** Counts which app reads which user's data, in memory; writes it many at a time, a minute after the first at most. */
export interface AccessLedger {
  /** Quick: one look-up for all that a request reads. No request waits for a write. */
  count(token: TokenOf, ...kinds: readonly AccessKind[]): void
  flush(): Promise<void>
  /** Writes what waits about one person, who is looking. What other processes have counted is up to a minute late. */
  flushOf(person: Pick<UserRowKey, 'cid' | 'userId'>): Promise<void>
}

interface LedgerBounds {
  readonly everyMs: number
  /** In memory at most: more are left out, and counted as such. From half of them on they are written at once. */
  readonly most: number
  /** Entries written by one statement, with a row for each kind. */
  readonly batch: number
}

const BOUNDS: LedgerBounds = { everyMs: 60_000, most: 50_000, batch: 500 }
const HOUR_MS = 3_600_000

interface Reads {
  reads: number
  lastAt: number
}

/** What an app has read of a user in an hour. */
interface Entry extends TokenOf, Partial<Record<AccessKind, Reads>> {
  readonly hour: number
}

const KINDS: readonly AccessKind[] = ['phone', 'profile']

function add(entry: Entry, kind: AccessKind, { reads, lastAt }: Reads): void {
  const known = entry[kind]
  if (!known) entry[kind] = { reads, lastAt }
  else {
    known.reads += reads
    known.lastAt = Math.max(known.lastAt, lastAt)
  }
}

export function openAccessLedger(
  { db, clock, metrics }: Pick<Deps, 'db' | 'clock' | 'metrics'>,
  log: SampledLog,
  bounds: Partial<LedgerBounds> = {},
): AccessLedger {
  const { everyMs, most, batch } = { ...BOUNDS, ...bounds }
  /** By user id: a look-up needs no key made of several parts, which would cost more than all the rest. */
  let waiting = new Map<string, Entry[]>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let entriesWaiting = 0
  let entriesBeingWritten = 0

  const waitingLike = ({ user_id, app_key, cid }: TokenOf, hour: number): Entry | undefined =>
    waiting.get(user_id)?.find((entry) => entry.app_key === app_key && entry.hour === hour && entry.cid === cid)

  const enter = (entry: Entry): void => {
    const known = waitingLike(entry, entry.hour)
    if (known) {
      for (const { kind, ...reads } of readsOf(entry)) add(known, kind, reads)
    } else if (entriesWaiting + entriesBeingWritten >= most) {
      for (const { reads } of readsOf(entry)) metrics.accessesLeftOut.inc(reads)
    } else {
      const ofUser = waiting.get(entry.user_id)
      if (ofUser) ofUser.push(entry)
      else waiting.set(entry.user_id, [entry])
      entriesWaiting++
      timer ??= setTimeout(() => void flush(), everyMs).unref()
    }
  }
  const write = async (entries: readonly Entry[]): Promise<void> => {
    for (const [shard, own] of byShard(db, entries, (entry) => rowKeyOf(entry).routingKey)) await writeTo(shard, own)
  }
  const writeTo = async (shard: Db, entries: Entry[]): Promise<void> => {
    let reachable = true // after a failure the rest waits for the next time
    while (entries.length > 0) {
      const some = entries.splice(0, batch)
      if (reachable) reachable = await isWritten(shard, some, log)
      entriesBeingWritten -= some.length
      if (!reachable) some.forEach(enter)
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const entries = inOneOrder([...waiting.values()].flat())
    waiting = new Map()
    entriesWaiting = 0
    entriesBeingWritten += entries.length
    if (entries.length > 0) writing = writing.then(() => write(entries))
    return writing
  }

  return {
    count: (token, ...kinds) => {
      metrics.usage.count(token.app_key, 'read')
      if (kinds.length === 0) return
      const lastAt = clock.now().getTime()
      const hour = Math.floor(lastAt / HOUR_MS)
      const known = waitingLike(token, hour)
      const { cid, user_id, app_key } = token
      const entry: Entry = known ?? { cid, user_id, app_key, hour }
      for (const kind of kinds) add(entry, kind, { reads: 1, lastAt })
      if (known) return
      enter(entry)
      if (entriesWaiting >= most / 2) void flush()
    },
    flush,
    flushOf: async ({ cid, userId }) => {
      const ofUser = waiting.get(userId) ?? []
      const theirs = ofUser.filter((entry) => entry.cid === cid)
      const others = ofUser.filter((entry) => entry.cid !== cid)
      if (others.length > 0) waiting.set(userId, others)
      else waiting.delete(userId)
      entriesWaiting -= theirs.length
      entriesBeingWritten += theirs.length
      await writing
      await write(inOneOrder(theirs))
    },
  }
}

/** All processes write in the order of the keys: none waits for one that waits for it. */
const inOneOrder = (entries: readonly Entry[]): Entry[] =>
  entries
    .map((entry) => ({ entry, key: `${entry.hour} ${entry.app_key} ${entry.cid} ${entry.user_id}` }))
    .sort(({ key: one }, { key: other }) => (one < other ? -1 : 1))
    .map(({ entry }) => entry)

const isWritten = (shard: Db, entries: readonly Entry[], log: SampledLog): Promise<boolean> =>
  addReads(shard, entries.flatMap(rowsOf)).then(
    () => true,
    (error: unknown) => {
      logBackgroundFailure(log, 'what apps read could not be written', error)
      return false
    },
  )

const readsOf = (entry: Entry): ({ readonly kind: AccessKind } & Reads)[] =>
  KINDS.flatMap((kind) => {
    const reads = entry[kind]
    return reads ? [{ kind, ...reads }] : []
  })

const rowsOf = (entry: Entry): CountedReads[] =>
  readsOf(entry).map(({ kind, reads, lastAt }) => ({
    ...rowKeyOf(entry),
    hour: fromEpochMilliseconds(entry.hour * HOUR_MS),
    appKey: entry.app_key,
    kind,
    reads,
    lastAt: fromEpochMilliseconds(lastAt),
  }))

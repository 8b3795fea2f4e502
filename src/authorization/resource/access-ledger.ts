import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { byShard } from '../../platform/db/shards.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { logBackgroundFailure, type SampledLog } from '../../platform/lib/sampled-log.ts'
import { rowKeyOf, type UserKey } from '../account/index.ts'
import { type AccessKind, accessKind, addReads, type CountedReads } from './access-store.ts'

export type { AccessKind }

/** The app and the user of a valid token. */
interface TokenOwner extends UserKey {
  readonly app_key: string
}

/** Counts in memory which app reads which user's data, and writes the counts in batches within a minute. */
export interface AccessLedger {
  /** Fast: one look-up for everything that a request reads, and no request waits for a write. */
  count(token: TokenOwner, ...kinds: readonly AccessKind[]): void
  flush(): Promise<void>
  /** Writes the pending counts of one person, who is viewing them. Counts of other processes are up to a minute late. */
  flushOf(person: Pick<UserRowKey, 'cid' | 'userId'>): Promise<void>
}

interface LedgerBounds {
  readonly everyMs: number
  /** Entries in memory; further reads are dropped and counted. From half of this on, entries are written at once. */
  readonly most: number
  /** Entries per statement, each with one row per kind. */
  readonly batch: number
}

const BOUNDS: LedgerBounds = { everyMs: 60_000, most: 50_000, batch: 500 }
/** No write is early so soon after one that failed: it would probably put as many entries back for nothing. */
const PAUSE_MS = 5_000
const HOUR_MS = 3_600_000

interface Reads {
  reads: number
  lastAt: number
}

/** An app's reads of a user's data in one hour. */
interface Entry extends TokenOwner, Partial<Record<AccessKind, Reads>> {
  readonly hour: number
}

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
  /** By user id alone: building a key of several parts would cost more than everything else here. */
  let pending = new Map<string, Entry[]>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  let entriesPending = 0
  let entriesBeingWritten = 0
  let failedAt = Number.NEGATIVE_INFINITY

  const findPending = ({ user_id, app_key, cid }: TokenOwner, hour: number): Entry | undefined =>
    pending.get(user_id)?.find((entry) => entry.app_key === app_key && entry.hour === hour && entry.cid === cid)

  const enter = (entry: Entry): void => {
    const known = findPending(entry, entry.hour)
    if (known) {
      for (const { kind, ...reads } of readsOf(entry)) add(known, kind, reads)
    } else if (entriesPending + entriesBeingWritten >= most) {
      for (const { reads } of readsOf(entry)) metrics.accessesLeftOut.inc(reads)
    } else {
      const ofUser = pending.get(entry.user_id)
      if (ofUser) ofUser.push(entry)
      else pending.set(entry.user_id, [entry])
      entriesPending++
      timer ??= setTimeout(() => void flush(), everyMs).unref()
    }
  }
  const write = async (entries: readonly Entry[]): Promise<void> => {
    for (const [shard, own] of byShard(db, entries, (entry) => rowKeyOf(entry).routingKey)) await writeTo(shard, own)
  }
  const writeTo = async (shard: Db, entries: Entry[]): Promise<void> => {
    let reachable = true // after a failure the other entries wait for the next flush
    while (entries.length > 0) {
      const chunk = entries.splice(0, batch)
      if (reachable) reachable = await tryToWrite(shard, chunk, log)
      entriesBeingWritten -= chunk.length
      if (!reachable) chunk.forEach(enter)
    }
    if (!reachable) failedAt = clock.now().getTime()
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const entries = inKeyOrder([...pending.values()].flat())
    pending = new Map()
    entriesPending = 0
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
      const known = findPending(token, hour)
      const { cid, user_id, app_key } = token
      const entry: Entry = known ?? { cid, user_id, app_key, hour }
      for (const kind of kinds) add(entry, kind, { reads: 1, lastAt })
      if (known) return
      enter(entry)
      if (entriesPending >= most / 2 && lastAt >= failedAt + PAUSE_MS) void flush()
    },
    flush,
    flushOf: async ({ cid, userId }) => {
      const ofUser = pending.get(userId) ?? []
      const theirs = ofUser.filter((entry) => entry.cid === cid)
      const others = ofUser.filter((entry) => entry.cid !== cid)
      if (others.length > 0) pending.set(userId, others)
      else pending.delete(userId)
      entriesPending -= theirs.length
      entriesBeingWritten += theirs.length
      await writing
      await write(inKeyOrder(theirs))
    },
  }
}

/** All processes write in the order of the keys, which prevents deadlocks. */
const inKeyOrder = (entries: readonly Entry[]): Entry[] =>
  entries
    .map((entry) => ({ entry, key: `${entry.hour} ${entry.app_key} ${entry.cid} ${entry.user_id}` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ entry }) => entry)

const tryToWrite = (shard: Db, entries: readonly Entry[], log: SampledLog): Promise<boolean> =>
  addReads(shard, entries.flatMap(rowsOf)).then(
    () => true,
    (error: unknown) => {
      logBackgroundFailure(log, 'what apps read could not be written', error)
      return false
    },
  )

const readsOf = (entry: Entry): ({ readonly kind: AccessKind } & Reads)[] =>
  accessKind.options.flatMap((kind) => {
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

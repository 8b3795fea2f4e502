import { routingKeyOf } from '../account/index.ts'
import type { Deps } from '../deps.ts'
import { fromEpochMilliseconds } from '../lib/clock.ts'
import { type AccessKind, addReads, type CountedReads } from './access-store.ts'

export type { AccessKind }

/** What a token that works says of whose it is. */
interface TokenOf {
  readonly cid: number
  readonly user_id: string
  readonly app_key: string
}

/** Counts which app reads which user's data, in memory; writes it many at a time, a minute after the first at most. */
export interface AccessLedger {
  /** Quick: one look into a map for all that a request reads. No request waits for a write. */
  count(token: TokenOf, ...kinds: readonly AccessKind[]): void
  /** Writes what waits. */
  flush(): Promise<void>
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
  { db, clock, meters }: Pick<Deps, 'db' | 'clock' | 'meters'>,
  bounds: Partial<LedgerBounds> = {},
): AccessLedger {
  const { everyMs, most, batch } = { ...BOUNDS, ...bounds }
  let waiting = new Map<string, Entry>()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()
  /** Of `waiting` and what is being written. */
  let held = 0

  const enter = (key: string, entry: Entry): void => {
    const known = waiting.get(key)
    if (known) {
      for (const { kind, ...reads } of readsOf(entry)) add(known, kind, reads)
    } else if (held >= most) {
      for (const { reads } of readsOf(entry)) meters.accessesLeftOut.inc(reads)
    } else {
      waiting.set(key, entry)
      held++
      timer ??= setTimeout(() => void flush(), everyMs).unref()
    }
  }
  const write = async (entries: [string, Entry][]): Promise<void> => {
    let reachable = true // after a failure the rest waits for the next time; the requests log that the database is away
    while (entries.length > 0) {
      const some = entries.splice(0, batch)
      if (reachable) reachable = await isWritten(db, some)
      held -= some.length
      if (!reachable) for (const [key, entry] of some) enter(key, entry)
    }
  }
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const entries = [...waiting].sort(([one], [other]) => (one < other ? -1 : 1)) // all processes in one order
    waiting = new Map()
    if (entries.length > 0) writing = writing.then(() => write(entries))
    return writing
  }

  return {
    count: ({ cid, user_id, app_key }, ...kinds) => {
      if (kinds.length === 0) return
      const lastAt = clock.now().getTime()
      const hour = Math.floor(lastAt / HOUR_MS)
      const key = `${hour} ${app_key} ${cid} ${user_id}`
      const known = waiting.get(key)
      const entry: Entry = known ?? { cid, user_id, app_key, hour }
      for (const kind of kinds) add(entry, kind, { reads: 1, lastAt })
      if (known) return
      enter(key, entry)
      if (waiting.size >= most / 2) void flush()
    },
    flush,
  }
}

const isWritten = (db: Deps['db'], entries: readonly [string, Entry][]): Promise<boolean> =>
  addReads(
    db,
    entries.flatMap(([, entry]) => rowsOf(entry)),
  ).then(
    () => true,
    () => false,
  )

const readsOf = (entry: Entry): ({ readonly kind: AccessKind } & Reads)[] =>
  KINDS.flatMap((kind) => {
    const reads = entry[kind]
    return reads ? [{ kind, ...reads }] : []
  })

const rowsOf = (entry: Entry): CountedReads[] =>
  readsOf(entry).map(({ kind, reads, lastAt }) => ({
    routingKey: routingKeyOf(entry.cid, entry.user_id),
    cid: entry.cid,
    userId: entry.user_id,
    hour: fromEpochMilliseconds(entry.hour * HOUR_MS),
    appKey: entry.app_key,
    kind,
    reads,
    lastAt: fromEpochMilliseconds(lastAt),
  }))

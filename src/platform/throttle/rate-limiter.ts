import type { Config } from '../config/index.ts'
import type { Db } from '../db/sql.ts'
import { hmacSha256, sha256 } from '../lib/crypto/digest.ts'
import type { Keys } from '../lib/crypto/keys.ts'
import { mayBeDone } from '../lib/database-errors.ts'
import type { Rate, RateLimiter } from '../lib/rate-limiter.ts'
import { logBackgroundFailure, type SampledLog } from '../lib/sampled-log.ts'
import { addUses, deleteExpiredCounts } from './attempts-store.ts'

interface Entry {
  readonly windowS: number
  /** In terms of performance.now(), which is monotonic. */
  endsAt: number
  /** Count of all processes as of the last exchange with the database. */
  shared: number
  /** Counted in this process since then. */
  own: number
}

interface RateBounds {
  readonly everyMs: number
  /** Maximum subjects in memory; the least recently used is evicted. */
  readonly subjects: number
  /** Maximum subjects per statement; the others wait for the next. */
  readonly batch: number
  /** Interval for deleting expired windows. */
  readonly tidyEveryMs: number
}

const BOUNDS: RateBounds = { everyMs: 1_000, subjects: 20_000, batch: 500, tidyEveryMs: 10_000 }
/** Subjects below 1/50 of their limit stay local, so most callers cost no statement. */
const LOCAL_FRACTION = 50
/** More than a process can add between two deletions. */
const MAX_DELETED = 10_000
const MAX_SUBJECT_LENGTH = 64

export function openRateLimiter(
  db: Db,
  keys: Pick<Keys, 'storage'>,
  log: SampledLog,
  bounds: Partial<RateBounds> = {},
): RateLimiter {
  const { everyMs, subjects, batch, tidyEveryMs } = { ...BOUNDS, ...bounds }
  const entries = new Map<string, Entry>()
  const unshared = new Map<string, Entry>()
  let timer: NodeJS.Timeout | undefined
  let sharing: Promise<void> | undefined
  let sharedAt = Number.NEGATIVE_INFINITY
  let tidiedAt = performance.now()
  let closed = false

  const forget = (key: string): void => {
    entries.delete(key)
    unshared.delete(key)
  }

  const entryOf = (key: string, windowS: number, now: number): Entry => {
    const known = entries.get(key)
    if (known) entries.delete(key) // re-inserted below as the most recently used
    const entry = known && known.endsAt > now ? known : { windowS, endsAt: now + windowS * 1000, shared: 0, own: 0 }
    entries.set(key, entry)
    if (entries.size > subjects) forget(entries.keys().next().value as string)
    return entry
  }

  const shareLater = (): void => {
    if (timer || sharing || closed) return
    timer = setTimeout(
      () => {
        timer = undefined
        void share().then(() => unshared.size > 0 && shareLater())
      },
      Math.max(0, sharedAt + everyMs - performance.now()),
    ).unref()
  }

  const share = (): Promise<void> => {
    sharedAt = performance.now()
    sharing = shareSome().finally(() => {
      sharing = undefined
    })
    return sharing
  }

  const shareSome = async (): Promise<void> => {
    const sharedNow = [...unshared].slice(0, batch)
    const sent = new Map<string, { entry: Entry; uses: number }>()
    for (const [key] of sharedNow) unshared.delete(key)
    const counts = sharedNow.map(([key, entry]) => {
      const subject = hmacSha256(keys.storage, `rate\n${key}`)
      sent.set(subject.toString('latin1'), { entry, uses: entry.own })
      return { subject, uses: entry.own, windowS: entry.windowS }
    })
    try {
      for (const { subject, uses, endsInMs } of await addUses(db, counts)) {
        const counted = sent.get(subject.toString('latin1'))
        if (!counted) continue
        sent.delete(subject.toString('latin1')) // its answer has come, whatever fails below
        counted.entry.shared = uses
        counted.entry.own -= counted.uses
        counted.entry.endsAt = performance.now() + endsInMs
      }
      if (performance.now() - tidiedAt < tidyEveryMs) return
      tidiedAt = performance.now()
      await deleteExpiredCounts(db, MAX_DELETED)
    } catch (error) {
      logBackgroundFailure(log, 'counts of limits could not be shared', error)
      // Counted twice they would refuse a caller too early.
      if (mayBeDone(error)) for (const { entry, uses } of sent.values()) entry.own -= uses
      // Keep counting locally; the counts are shared next time.
      const now = performance.now()
      for (const [key, entry] of sharedNow)
        if (entries.get(key) === entry && entry.endsAt > now) unshared.set(key, entry)
    }
  }

  return {
    count: ({ kind, most, windowS }, subject, added = 1) => {
      const now = performance.now()
      const key = `${kind}\n${subject.length <= MAX_SUBJECT_LENGTH ? subject : sha256(subject).toString('base64url')}`
      const entry = entryOf(key, windowS, now)
      // Beyond the limit the exact count does not matter.
      if (entry.shared + entry.own <= most) {
        entry.own += added
        if (entry.shared > 0 || entry.own * LOCAL_FRACTION >= most) {
          unshared.set(key, entry)
          shareLater()
        }
      }
      const uses = entry.shared + entry.own
      return { uses, exceeded: uses > most, endsInMs: Math.max(0, entry.endsAt - now) }
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await sharing
      // As long as it helps: what could not be shared is put back.
      for (let left = Number.POSITIVE_INFINITY; unshared.size > 0 && unshared.size < left; ) {
        left = unshared.size
        await share()
      }
    },
  }
}

const perMinute = (kind: string, most: number): Rate => ({ kind, most, windowS: 60 })

/** Rates of one app, counted by its app_key. */
export const APP_RATES = {
  refreshes: (config: Config): Rate => perMinute('refresh', config.REFRESHES_PER_MINUTE),
  pushed: (config: Config): Rate => perMinute('pushed request', config.PUSHED_REQUESTS_PER_MINUTE),
  pushedBytes: (config: Config): Rate => perMinute('pushed bytes', config.PUSHED_BYTES_PER_MINUTE),
}

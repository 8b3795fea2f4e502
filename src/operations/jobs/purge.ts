import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { ACCOUNT_RETENTION } from '../../authorization/account/index.ts'
import { APP_EVENT_RETENTION } from '../../authorization/app-events/index.ts'
import { OAUTH_RETENTION } from '../../authorization/oauth/index.ts'
import { OIDC_RETENTION } from '../../authorization/oidc/index.ts'
import { REFUSAL_RETENTION } from '../../authorization/refusals/index.ts'
import { ACCESS_RETENTION } from '../../authorization/resource/index.ts'
import { TEAM_RETENTION } from '../../authorization/teams/index.ts'
import { USAGE_RETENTION } from '../../authorization/usage/index.ts'
import { AUDIT_RETENTION } from '../../platform/audit/index.ts'
import { keepPurged } from '../../platform/db/installation.ts'
import { MARGIN_S, type RemovedBatch, type Retention, type RetentionBatch } from '../../platform/db/retention.ts'
import { schemasOf } from '../../platform/db/shards.ts'
import { type Db, placesOf } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fromEpochSeconds } from '../../platform/lib/clock.ts'
import { Overloaded } from '../../platform/lib/concurrency-limit.ts'
import { DatabaseUnavailable, isAway, keepsConnection } from '../../platform/lib/database-errors.ts'
import { SANDBOX_RETENTION } from '../../sandbox/portal/index.ts'
import { MEMBER_RETENTION } from '../../ticketing/members/index.ts'
import { NOTICE_RETENTION } from '../../ticketing/mtp/index.ts'
import { REJECTED_CALL_RETENTION } from '../../ticketing/mws/index.ts'
import { ORDER_RETENTION } from '../../ticketing/orders/index.ts'
import { CALL_RETENTION } from '../../ticketing/partner-calls/index.ts'
import { REACH_RETENTION } from '../../ticketing/partner-reach/index.ts'
import { HISTORY_RETENTION } from '../metrics/index.ts'
import { OPERATOR_RETENTION } from '../operators/index.ts'
import { deleteBatch, mayDelete, removeOldFailures, secondsAhead } from './store.ts'
import type { Task } from './task.ts'

/** What the purge deletes and when, as declared by the owner of each table. */
export const RETENTION: readonly Retention[] = [
  ...OAUTH_RETENTION,
  ...OIDC_RETENTION,
  ...ACCOUNT_RETENTION,
  ...ACCESS_RETENTION,
  ...APP_EVENT_RETENTION,
  ...TEAM_RETENTION,
  ...SANDBOX_RETENTION,
  ...MEMBER_RETENTION,
  ...NOTICE_RETENTION,
  ...REJECTED_CALL_RETENTION,
  ...CALL_RETENTION,
  ...REACH_RETENTION,
  ...ORDER_RETENTION,
  ...REFUSAL_RETENTION,
  ...USAGE_RETENTION,
  ...AUDIT_RETENTION,
  ...OPERATOR_RETENTION,
  ...HISTORY_RETENTION,
]

const BATCH_ROWS = 1_000
/** On a busy database a batch may take longer than a request may. */
const BATCH_S = 120
/** Pauses three times as long as a batch took: uses a quarter of one connection, and less of a busy database. */
const REST_FACTOR = 3
const JOB_BUDGET_S = 1_800
const OFTEN_BUDGET_S = 60
const PROGRESS_EVERY_MS = 10_000

export const purgeOptions = z.strictObject({
  /** Seconds after which the purge stops; by default it runs until nothing is left. */
  seconds: z.coerce.number().int().min(1).max(86_400).optional(),
})
export type PurgeOptions = z.output<typeof purgeOptions>

export interface Purged {
  /** Rows deleted by table, or rows cleared by what was removed from them. Only counts above zero. */
  readonly deleted: Readonly<Record<string, number>>
  readonly total: number
  /** False if the purge ran out of time, was stopped, or could not use a shard. */
  readonly finished: boolean
  /** Schemas of shards that could not be used; the next purge deletes their rows. */
  readonly shards_away?: readonly string[]
}

interface Watch {
  readonly onProgress?: (purged: Purged) => void
  readonly signal?: AbortSignal
}

/**
 * Deletes expired rows in small batches, each committed by itself, taking the tables in turn so that none waits for
 * another. Several purges at once are safe. A shard that is away is asked once; a locked table in it is skipped. A
 * table whose rows cannot be deleted is skipped, and reported at the end by throwing.
 */
export async function purge(
  { db, clock, config, metrics }: Deps,
  { seconds = Number.POSITIVE_INFINITY }: PurgeOptions,
  { onProgress, signal }: Watch = {},
  retention = RETENTION,
): Promise<Purged> {
  const now = clock.now()
  const ending = retention.filter(({ keptS }) => Number.isFinite(keptS(config)))
  const inPlaces = ending.map(async ({ keptS, ...rows }) => {
    const batch = { before: addSeconds(now, -keptS(config)), from: fromEpochSeconds(0), limit: BATCH_ROWS, now }
    const places = await placesOf(db, rows.table)
    const schemas = schemasOf(places.length)
    return places.map((place, at) => ({ ...rows, place, shard: schemas[at], batch }))
  })
  const pending = (await Promise.all(inPlaces)).flat()
  const deleted: Record<string, number> = {}
  /** Shards with rows left, and of these the ones not asked again: away, or with a second table locked or slow. */
  const [left, away] = [new Set<string>(), new Set<string>()]
  let failure: unknown
  let total = 0
  const purged = (finished: boolean): Purged => ({
    deleted,
    total,
    finished,
    ...(left.size > 0 ? { shards_away: [...left].sort() } : {}),
  })
  const ended = (finished: boolean): Purged => {
    if (failure !== undefined) throw failure
    return purged(finished)
  }
  const end = performance.now() + seconds * 1000
  for (let next = pending.shift(); next; next = pending.shift()) {
    if (signal?.aborted || performance.now() >= end) return ended(false)
    const { table, shard, batch, what = table } = next
    if (shard !== undefined && away.has(shard)) continue
    const began = performance.now()
    const { rows, last } = await removeBatch(next).catch((error: unknown) => {
      if (shard === undefined || !(error instanceof DatabaseUnavailable || error instanceof Overloaded)) {
        if (!keepsConnection(error)) throw error // the database is away: the other tables would fail as well
        failure ??= error
        return NOTHING
      }
      if (isAway(error.cause) || left.has(shard)) away.add(shard)
      left.add(shard)
      return NOTHING
    })
    if (rows === 0) continue
    total += rows
    deleted[what] = (deleted[what] ?? 0) + rows
    metrics.purgedRows.inc({ table: what }, rows)
    onProgress?.(purged(false))
    if (rows === BATCH_ROWS) pending.push({ ...next, batch: { ...batch, from: last ?? batch.from } })
    const deletedAt = performance.now()
    const restMs = Math.min((deletedAt - began) * REST_FACTOR, Math.max(0, end - deletedAt))
    await sleep(restMs, undefined, { signal }).catch(() => {})
  }
  const done = ended(left.size === 0)
  if (done.finished && retention === RETENTION) await keepPurged(db, clock.now())
  return done
}

interface Place extends Retention {
  readonly place: Db
  readonly batch: RetentionBatch
}

const NOTHING: RemovedBatch = { rows: 0, last: null }

async function removeBatch({ place, batch, ...rows }: Omit<Place, 'keptS'>): Promise<RemovedBatch> {
  if (rows.mayBeForbidden && !(await mayDelete(place, rows.table))) return NOTHING
  return place.slowTx(BATCH_S, (inside) =>
    rows.remove ? rows.remove(inside, batch) : deleteBatch(inside, rows, batch),
  )
}

/** Throws if this machine's clock is ahead by more than rows outlive their end: it would delete what is not due. */
export async function refuseClockAhead({ db, clock }: Deps): Promise<void> {
  const seconds = Math.round(await secondsAhead(db, clock.now()))
  if (seconds > MARGIN_S)
    throw new Error(`the clock of this machine is ${seconds} s ahead of the database's: nothing was done`)
}

/** The hourly purge, with its progress in the log. */
export const purgeTask: Task = async (deps, _payload, { log, signal }) => {
  await removeOldFailures(deps.db)
  let loggedAt = performance.now()
  const onProgress = (purged: Purged): void => {
    if (performance.now() - loggedAt < PROGRESS_EVERY_MS) return
    loggedAt = performance.now()
    log.info(purged, 'purging expired rows')
  }
  const purged = await purge(deps, { seconds: JOB_BUDGET_S }, { onProgress, signal })
  if (purged.shards_away) log.warn(purged, 'shards are away, or locked: their expired rows are left to the next purge')
  else if (purged.total > 0 || !purged.finished) log.info(purged, 'expired rows were purged')
}

const OFTEN = RETENTION.filter(({ often }) => often)

/** Runs more often than the purge, for rows that anybody can cause without signing in. */
export const purgeOftenTask: Task = async (deps, _payload, { signal }) => {
  await purge(deps, { seconds: OFTEN_BUDGET_S }, { signal }, OFTEN)
}

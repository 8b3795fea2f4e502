import { setTimeout as sleep } from 'node:timers/promises'
import { ACCOUNT_SEALED } from '../../authorization/account/index.ts'
import { LONGEST_REFRESH_S } from '../../authorization/oauth/index.ts'
import { OIDC_SEALED } from '../../authorization/oidc/index.ts'
import { REGISTRY_SEALED, secretsOfOldKeys } from '../../authorization/registry/index.ts'
import { recordAudit } from '../../platform/audit/index.ts'
import { currentKeySince, KEY_FOLLOWED_WITHIN_S, replaceKey } from '../../platform/db/installation.ts'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Db, placesOf } from '../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { type Keys, reencryptSecret } from '../../platform/lib/crypto/keys.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { readOr } from '../../platform/lib/read-or.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { DEVICE_LIFETIME_S } from '../../platform/throttle/index.ts'
import { storeReportKeys } from '../../sandbox/reports/index.ts'
import { PARTNERS_SEALED } from '../../ticketing/partners/index.ts'
import { lastTokenExpiry, OPERATORS_SEALED } from '../operators/index.ts'
import { countSealed, lockSealed, putSealed } from './reseal-store.ts'

/** Every encrypted column, as declared by the owner of its table. */
const SEALED: readonly SealedColumn[] = [
  ...PARTNERS_SEALED,
  ...REGISTRY_SEALED,
  ...OIDC_SEALED,
  ...OPERATORS_SEALED,
  ...ACCOUNT_SEALED,
]

const BATCH_ROWS = 100
const NAMED = 20

export interface Resealed {
  /** When SECRET_KEY became the current key. */
  readonly replaced_at: Date
  readonly resealed: number
  /** Values that were already encrypted with SECRET_KEY. */
  readonly sealed_before: number
  /** Values that no key decrypts; some of them named as `table key`. */
  readonly unreadable: { readonly total: number; readonly rows: readonly string[] }
  /** app_secrets still hashed with an old key, which are rehashed on their next use. */
  readonly unused_secrets: { readonly total: number; readonly apps: number; readonly app_keys: readonly string[] }
  /** When the last token or session of an old key ends. */
  readonly tokens_end_at: Date
  /** When nothing of an old key is left, so that SECRET_KEYS_OLD can be emptied; null while app_secrets still need one. */
  readonly droppable_at: Date | null
}

type OnProgress = (progress: { readonly seen: number; readonly total: number }) => void

/**
 * Makes SECRET_KEY the current key, waits until all processes use it, and re-encrypts what an old key has encrypted, in
 * batches that commit by themselves: after an interruption, run it again. Throws 20007 without SECRET_KEYS_OLD.
 */
export async function resealEverything(deps: Deps, onProgress: OnProgress = () => {}) {
  const { db, clock, keys } = deps
  if (keys.others.length === 0) throw invalidRequest(localized('no-old-keys'))
  await inTransaction(deps, async (inside, tx) => {
    if (await replaceKey(tx, keys, clock.now())) await recordAudit(inside, { event: 'secret_key_replaced' })
  })
  const replaced_at = (await currentKeySince(db, keys)) ?? clock.now()
  const followedAt = addSeconds(replaced_at, KEY_FOLLOWED_WITHIN_S)
  await sleep(Math.max(0, followedAt.getTime() - clock.now().getTime()))
  await storeReportKeys(deps)
  const counts = await resealColumns(deps, onProgress)
  await recordAudit(deps, { event: 'secrets_resealed', detail: counts })
  return { replaced_at, ...counts, ...(await whatIsLeft(deps, followedAt)) } satisfies Resealed
}

type Counts = Pick<Resealed, 'resealed' | 'sealed_before' | 'unreadable'>

async function resealColumns(deps: Deps, onProgress: OnProgress): Promise<Counts> {
  const columns = await columnsWithPlaces(deps.db)
  let total = 0
  for (const { column, place } of columns) total += await countSealed(place, column)
  const outcomes = { resealed: 0, sealed_before: 0 }
  const unreadable: string[] = []
  let seen = 0
  for (const { column, place } of columns) {
    let after: readonly string[] | undefined
    do {
      const batch = await resealBatch({ ...deps, db: place }, column, after)
      for (const { key, outcome } of batch) {
        if (outcome === 'unreadable') unreadable.push(`${column.table} ${key.join(' ')}`)
        else outcomes[outcome]++
      }
      seen += batch.length
      onProgress({ seen, total })
      after = batch.length === BATCH_ROWS ? batch.at(-1)?.key : undefined
    } while (after)
  }
  return { ...outcomes, unreadable: { total: unreadable.length, rows: unreadable.slice(0, NAMED) } }
}

async function columnsWithPlaces(db: Db) {
  const found = SEALED.map(async (column) => (await placesOf(db, column.table)).map((place) => ({ column, place })))
  return (await Promise.all(found)).flat()
}

interface Outcome {
  readonly key: readonly string[]
  readonly outcome: keyof Counts
}

const resealBatch = ({ db, keys }: Deps, column: SealedColumn, after: readonly string[] | undefined) =>
  db.tx(async (tx) => {
    const outcomes: Outcome[] = []
    for (const { key, sealed } of await lockSealed(tx, column, after, BATCH_ROWS)) {
      const result = resealed(keys, sealed, column.contextOf(key))
      if (typeof result !== 'string') await putSealed(tx, column, key, result)
      outcomes.push({ key, outcome: typeof result === 'string' ? result : 'resealed' })
    }
    return outcomes
  })

const resealed = (keys: Keys, sealed: Buffer, context: string): Buffer | Exclude<keyof Counts, 'resealed'> =>
  readOr(() => reencryptSecret(keys, sealed, context) ?? 'sealed_before', 'unreadable')

const later = (one: Date, other: Date): Date => (one > other ? one : other)

/** What still needs an old key, and until when; `since`: from when on the current key alone was used. */
async function whatIsLeft({ db, clock, keys, config }: Deps, since: Date) {
  const { ACCESS_TOKEN_LIFETIME_S, SESSION_LIFETIME_S } = config
  const tokensS = Math.max(LONGEST_REFRESH_S, ACCESS_TOKEN_LIFETIME_S, SESSION_LIFETIME_S)
  const operatorTokensEnd = await lastTokenExpiry(db, since, clock.now())
  const tokens_end_at = later(addSeconds(since, tokensS), operatorTokensEnd ?? since)
  const unused_secrets = await secretsOfOldKeys(db, keys, clock.now(), NAMED)
  const droppable_at = unused_secrets.total > 0 ? null : later(tokens_end_at, addSeconds(since, DEVICE_LIFETIME_S))
  return { unused_secrets, tokens_end_at, droppable_at }
}

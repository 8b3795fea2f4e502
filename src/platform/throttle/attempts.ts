import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { secondsUntil } from '../lib/clock.ts'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import type { Keys } from '../lib/crypto/keys.ts'
import { tooManyRequests } from '../lib/web/rescode.ts'
import { countFailure, readFailures } from './attempts-store.ts'

/**
 * Namespaces, so that a passport, an app_key and a clientId (`partner`) of the same spelling have separate counts.
 * `member` is a member of a partner, `forgotten` a password-reset request, `mail-…` an outgoing mail, `code-asked` a page
 * that asks for an authenticator's code, `code-day` wrong codes, `contact-…` a code sent to a new phone number or mail
 * address (`contact-first`: a person's first of the day), `own-change` and `session-change` what a person and a session of
 * theirs change.
 */
type ThrottleKind =
  | 'passport'
  | 'passport-network'
  | 'partner'
  | 'partner-network'
  | 'device'
  | 'address'
  | 'client'
  | 'replay'
  | 'preflight'
  | 'start'
  | 'run'
  | 'contacts'
  | 'play'
  | 'export'
  | 'rotation'
  | 'member'
  | 'operator'
  | 'operator-network'
  | 'member-network'
  | 'forgotten'
  | 'forgotten-day'
  | 'forgotten-network'
  | 'mail-address'
  | 'mail-partner'
  | 'mail-person'
  | 'code-asked'
  | 'code-day'
  | 'app-request'
  | 'contact-code'
  | 'contact-day'
  | 'contact-network'
  | 'contact-target'
  | 'contact-first'
  | 'own-change'
  | 'session-change'
  | 'passkey-failed'
  | 'session'

/** Keyed hash under which failures are stored. */
export const throttleKey = (keys: Keys, kind: ThrottleKind, value: string): Buffer =>
  hmacSha256(keys.storage, `${kind}\n${value}`)

/** Maximum failures of one subject within a window. */
export interface Limit {
  readonly subject: Buffer
  readonly most: number
}

/** When the first exhausted limit resets; undefined if none is exhausted. */
export async function exhaustedUntil(
  db: Db,
  limits: readonly Limit[],
  now: Date,
  windowSeconds: number,
): Promise<Date | undefined> {
  const failures = await Promise.all(limits.map(({ subject }) => readFailures(db, subject, now, windowSeconds)))
  return failures.find((counted, index) => counted && counted.failures >= (limits[index]?.most ?? 0))?.windowEndsAt
}

/**
 * Counts a failure against each limit, narrowest first. Stops at the first exceeded one and returns when it resets, so
 * that the wider limits, shared with others, are not charged.
 */
export async function countFailureWithin(
  db: Db,
  limits: readonly Limit[],
  now: Date,
  windowSeconds: number,
): Promise<Date | undefined> {
  for (const { subject, most } of limits) {
    const { failures, windowEndsAt } = await countFailure(db, subject, now, windowSeconds)
    if (failures > most) return windowEndsAt
  }
  return undefined
}

const WINDOW_S = 60

/** Per minute and partner: requests that make us call out or write. */
const MAX_USES = {
  replay: 30,
  export: 6,
  preflight: 12,
  run: 30,
  start: 120,
  contacts: 30,
  play: 30,
  rotation: 6,
} as const

/** Counts one use across all processes; throws 20003 with Retry-After when there were too many. */
export async function countUse(
  { db, keys, clock }: Deps,
  kind: keyof typeof MAX_USES,
  partnerId: bigint,
): Promise<void> {
  const now = clock.now()
  const { failures, windowEndsAt } = await countFailure(db, throttleKey(keys, kind, String(partnerId)), now, WINDOW_S)
  if (failures > MAX_USES[kind]) throw tooManyRequests(secondsUntil(windowEndsAt, now))
}

interface Quota {
  readonly kind: ThrottleKind
  readonly name: string
  readonly most: number
}

/**
 * Counts one use against each quota, narrowest first, across all processes; returns when an exceeded one resets. Writes
 * nothing once any quota is exhausted, so that a caller inventing new names cannot fill the table.
 */
export async function countWithin(
  { db, keys, clock }: Deps,
  windowS: number,
  quotas: readonly Quota[],
): Promise<Date | undefined> {
  const now = clock.now()
  const limits = quotas.map(({ kind, name, most }) => ({ subject: throttleKey(keys, kind, name), most }))
  return (await exhaustedUntil(db, limits, now, windowS)) ?? (await countFailureWithin(db, limits, now, windowS))
}

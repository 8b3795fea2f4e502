import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { secondsUntil } from '../lib/clock.ts'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import type { Keys } from '../lib/crypto/keys.ts'
import { tooManyRequests } from '../lib/web/rescode.ts'
import { countFailure, readFailures } from './attempts-store.ts'

/**
 * Kinds keep a passport, an app_key and a clientId (`partner`) of the same spelling apart. `member` is somebody of a
 * partner, `forgotten` a request for a new password, `mail-…` a mail that is sent.
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
  | 'contact-code'
  | 'contact-day'
  | 'contact-network'
  | 'contact-target'
  | 'contact-first'
  | 'own-change'
  | 'session-change'
  | 'passkey-failed'
  | 'session'

/** The keyed hash by which failures are counted and stored. */
export const throttleKey = (keys: Keys, kind: ThrottleKind, value: string): Buffer =>
  hmacSha256(keys.storage, `${kind}\n${value}`)

/** How often one subject may fail within a window. */
export interface Limit {
  readonly subject: Buffer
  readonly most: number
}

/** The end of the window of the first limit that is used up; undefined if none is. */
export async function exhaustedUntil(
  db: Db,
  limits: readonly Limit[],
  now: Date,
  windowSeconds: number,
): Promise<Date | undefined> {
  const failures = await Promise.all(limits.map(({ subject }) => readFailures(db, subject, now, windowSeconds)))
  return failures.find((counted, index) => counted && counted.failures >= (limits[index]?.most ?? 0))?.windowEndsAt
}

/** Counts a failure, the narrowest limit first. Returns the end of one exceeded, and spares the wider, shared ones. */
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

/** How often one partner may request, in a minute, what makes us call somebody or write something. */
const MAX_USES = { replay: 30, export: 6, preflight: 12, start: 120, contacts: 30, play: 30, rotation: 6 } as const

/** Counts one use, over all processes; throws 20003 with Retry-After when there were too many. */
export async function countUse(
  { db, keys, clock }: Deps,
  what: keyof typeof MAX_USES,
  partnerId: bigint,
): Promise<void> {
  const now = clock.now()
  const { failures, windowEndsAt } = await countFailure(db, throttleKey(keys, what, String(partnerId)), now, WINDOW_S)
  if (failures > MAX_USES[what]) throw tooManyRequests(secondsUntil(windowEndsAt, now))
}

interface Bound {
  readonly kind: ThrottleKind
  readonly name: string
  readonly most: number
}

/**
 * Counts one use under each bound, the narrowest first, over all processes. Where there were too many in the window,
 * returns its end. Once a bound is used up nothing is written: whoever goes on under ever new names fills no table.
 */
export async function countWithin(
  { db, keys, clock }: Deps,
  windowS: number,
  bounds: readonly Bound[],
): Promise<Date | undefined> {
  const now = clock.now()
  const limits = bounds.map(({ kind, name, most }) => ({ subject: throttleKey(keys, kind, name), most }))
  return (await exhaustedUntil(db, limits, now, windowS)) ?? (await countFailureWithin(db, limits, now, windowS))
}

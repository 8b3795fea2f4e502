import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { DAY_S, HOUR_S, secondsUntil } from '../lib/clock.ts'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import type { Keys } from '../lib/crypto/keys.ts'
import { mailKeyOf } from '../lib/member.ts'
import { tooManyRequests } from '../lib/web/rescode.ts'
import { countFailure, readFailures } from './attempts-store.ts'
import type { Account } from './device.ts'

/**
 * Namespaces, so that a passport, an app_key and a clientId (`partner`) of the same spelling have separate counts.
 * `forgotten` is a password-reset request, `mail-…` an outgoing mail, `code-asked` a page that asks for an
 * authenticator's code, `code-day` wrong codes, `contact-…` a code sent to a new phone number or mail address
 * (`contact-first`: a person's first of the day), `own-change` and `session-change` what a person and a session of
 * theirs change.
 */
type ThrottleKind =
  | Account['kind']
  | `${Account['kind']}-network`
  | keyof typeof MAX_USES
  | 'device'
  | 'address'
  | 'client'
  | 'session'
  | 'app-request'
  | 'passkey-failed'
  | 'own-change'
  | 'session-change'
  | `code-${'asked' | 'day'}`
  | `mail-${'address' | 'partner' | 'person'}`
  | `contact-${'code' | 'day' | 'network' | 'target' | 'first'}`
  | 'forgotten'
  | `forgotten-${'day' | 'network'}`

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
 * Counts a failure against each limit, narrowest first, up to the first exceeded one: wider limits are shared with
 * others. Returns when that one resets.
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
 * Counts one use against each quota, narrowest first; returns when an exceeded one resets. Writes nothing once any
 * quota is exhausted, so that a caller inventing new names cannot fill the table.
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

const MAX_PER_ADDRESS = 10
const MAX_PER_INVITER = 100

/**
 * Counts an invitation mail; false when this partner or team has sent too many today, in all or to this address. Counts
 * of an address are the inviter's own, so that nobody uses up another's.
 */
export const mayInvite = async (deps: Deps, inviter: string, mail: string): Promise<boolean> =>
  (await countWithin(deps, DAY_S, [
    { kind: 'mail-address', name: `${inviter}\n${mailKeyOf(mail)}`, most: MAX_PER_ADDRESS },
    { kind: 'mail-partner', name: inviter, most: MAX_PER_INVITER },
  ])) === undefined

/** More than anybody does by hand; each change adds a row to the audit log, kept for years. */
const MAX_CHANGES_PER_HOUR = 300
/** Extra allowance per session after that: whoever stole one session cannot block the owner in another. */
const EXTRA_PER_SESSION = 20

interface OwnSession {
  readonly cid: number
  readonly userId: string
  readonly sessionHash: Buffer
}

/** Counts a change that a person makes to their own account; throws 20003 when there were too many. */
export async function countOwnChange(deps: Deps, { cid, userId, sessionHash }: OwnSession): Promise<void> {
  const byPerson = { kind: 'own-change', name: `${cid}:${userId}`, most: MAX_CHANGES_PER_HOUR } as const
  if (!(await countWithin(deps, HOUR_S, [byPerson]))) return
  const bySession = { kind: 'session-change', name: sessionHash.toString('hex'), most: EXTRA_PER_SESSION } as const
  const until = await countWithin(deps, HOUR_S, [bySession])
  if (until) throw tooManyRequests(secondsUntil(until, deps.clock.now()))
}

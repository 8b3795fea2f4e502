import type { Deps } from '../deps.ts'
import { countFailureWithin, exhaustedUntil, type Limit, throttleKey } from './attempts.ts'
import { clearFailures } from './attempts-store.ts'
import { type Account, knownDevice } from './device.ts'
import { networkOf, SITE_FACTOR, siteOf, subnetOf } from './network.ts'

/**
 * Limits on failed sign-ins: per account and network, per account from anywhere (higher, so that a stranger cannot lock
 * its owner out), and per address. A browser that has signed in to the account before has a separate budget, and is
 * exempt from these until that is exhausted. Non-existent accounts are counted in the same way.
 */

const WINDOW_S = 15 * 60

export interface SignInSource {
  readonly address: string
  /** The device cookie of the browser. */
  readonly device?: string | undefined
}

export interface SignInAttempt extends Account, SignInSource {
  /** Set when somebody already signed in proves the password again: each session has its own budget. */
  readonly session?: Buffer | undefined
  /** For a long random secret, which failures from many places cannot guess: they must not lock its holder out. */
  readonly isUnguessable?: boolean
}

/** Narrowest first. */
type Limits = readonly [Limit, ...Limit[]]

function untrustedLimits({ config, keys }: Deps, { kind, name, address, isUnguessable }: SignInAttempt): Limits {
  const anywhere = { subject: throttleKey(keys, kind, name), most: config.SIGN_IN_FAILURES_PER_PASSPORT_ANYWHERE }
  const site = siteOf(address)
  const perAddress = config.SIGN_IN_FAILURES_PER_ADDRESS
  return [
    {
      subject: throttleKey(keys, `${kind}-network`, `${subnetOf(address)}\n${name}`),
      most: config.SIGN_IN_FAILURES_PER_PASSPORT,
    },
    { subject: throttleKey(keys, 'address', networkOf(address)), most: perAddress },
    ...(site ? [{ subject: throttleKey(keys, 'address', site), most: SITE_FACTOR * perAddress }] : []),
    ...(isUnguessable ? [] : [anywhere]),
  ]
}

/** A sign-in was refused: wrong credentials of any kind or, with `retryAt`, too many attempts before. */
export class SignInRefused extends Error {
  override readonly name = 'SignInRefused'
  readonly retryAt: Date | undefined

  constructor(retryAt?: Date, message = retryAt ? 'too many sign-in attempts' : 'wrong credentials') {
    super(message)
    this.retryAt = retryAt
  }
}

/**
 * Whether an audit row about a failed sign-in may be written, within limits per network and in total: attackers could
 * cause any number, and each row is kept for years.
 */
export function mayRecordFailure({ rateLimiter }: Deps, kind: 'operator' | 'partner', address: string): boolean {
  const ofNetwork = { kind: `${kind} sign-in recorded`, most: 10, windowS: 60 }
  const ofAll = { kind: `${kind} sign-ins recorded`, most: 100, windowS: 60 }
  return !rateLimiter.count(ofNetwork, networkOf(address)).exceeded && !rateLimiter.count(ofAll, '').exceeded
}

export async function signInLimits(deps: Deps, attempt: SignInAttempt) {
  const { config, db, clock, keys } = deps
  const exhausted = (limits: readonly Limit[]) => exhaustedUntil(db, limits, clock.now(), WINDOW_S)
  const device = attempt.session?.toString('hex') ?? knownDevice(deps, attempt, attempt.device)
  const own: Limit | undefined = device
    ? { subject: throttleKey(keys, 'device', device), most: config.SIGN_IN_FAILURES_PER_PASSPORT }
    : undefined
  const isTrusted = own !== undefined && (attempt.session !== undefined || (await exhausted([own])) === undefined)
  const limits: Limits = isTrusted ? [own] : untrustedLimits(deps, attempt)
  return {
    /** Throws SignInRefused if a limit is exhausted. */
    refuseExhausted: async (): Promise<void> => {
      const until = await exhausted(limits)
      if (until) throw new SignInRefused(until)
    },
    /**
     * Counts a failure and returns the error to throw, which carries the end of the window if a limit was exceeded.
     * `record` gets whether the account is locked now.
     */
    failed: async (record?: (locked: boolean) => Promise<unknown>): Promise<SignInRefused> => {
      deps.metrics.signInFailures.inc({ kind: attempt.kind })
      const until = await countFailureWithin(db, limits, clock.now(), WINDOW_S)
      await record?.((until ?? (await exhausted(limits))) !== undefined)
      return new SignInRefused(until)
    },
    /** Clears the failures of this browser, or of the account in this network, after a successful sign-in. */
    forget: () => clearFailures(db, limits[0].subject),
  }
}

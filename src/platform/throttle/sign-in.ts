import type { Deps } from '../deps.ts'
import { countFailureWithin, exhaustedUntil, type Limit, throttleKey } from './attempts.ts'
import { clearFailures } from './attempts-store.ts'
import { type Account, knownDevice } from './device.ts'
import { networkOf, SITE_FACTOR, siteOf, subnetOf } from './network.ts'

/**
 * How often signing in may fail: for one account from one network, for one account from anywhere (higher, so that a
 * stranger elsewhere cannot lock its owner out with a few guesses), and from one address whatever the accounts. A
 * browser that has signed in to the account before has a budget of its own and is exempt from these until that is
 * used up. Accounts that do not exist are counted alike.
 */

const WINDOW_S = 15 * 60

/** Where an attempt to sign in comes from. */
export interface SignInSource {
  readonly address: string
  /** The device cookie of the browser. */
  readonly device?: string | undefined
}

export interface SignInAttempt extends Account, SignInSource {
  /** Somebody who is signed in shows once more that they know the password: a session has a budget of its own. */
  readonly session?: Buffer | undefined
}

export interface SignInLimits {
  /** Throws the refusal once a limit is used up. */
  refuseExhausted(): Promise<void>
  /**
   * Counts a failure and returns the error to throw, with the end of the window if this one reached a limit. `record`
   * is told whether the account is locked now.
   */
  failed(record?: (locked: boolean) => Promise<unknown>): Promise<Error>
  /** Clears the failures of the account in this network, or of this browser, after a good sign-in. */
  forget(): Promise<void>
}

/** The narrowest first. */
function untrustedLimits({ config, keys }: Deps, { kind, name, address }: SignInAttempt): [Limit, ...Limit[]] {
  const site = siteOf(address)
  const perAddress = config.SIGN_IN_FAILURES_PER_ADDRESS
  return [
    {
      subject: throttleKey(keys, `${kind}-network`, `${subnetOf(address)}\n${name}`),
      most: config.SIGN_IN_FAILURES_PER_PASSPORT,
    },
    { subject: throttleKey(keys, 'address', networkOf(address)), most: perAddress },
    ...(site ? [{ subject: throttleKey(keys, 'address', site), most: SITE_FACTOR * perAddress }] : []),
    { subject: throttleKey(keys, kind, name), most: config.SIGN_IN_FAILURES_PER_PASSPORT_ANYWHERE },
  ]
}

/** `refusal`: what is thrown, with the end of the window where a limit is used up. */
export async function signInLimits(
  deps: Deps,
  attempt: SignInAttempt,
  refusal: (until?: Date) => Error,
): Promise<SignInLimits> {
  const { config, db, clock, keys } = deps
  const exhaustedOf = (limits: readonly Limit[]) => exhaustedUntil(db, limits, clock.now(), WINDOW_S)
  const device = attempt.session?.toString('hex') ?? knownDevice(deps, attempt, attempt.device)
  const own: Limit | undefined = device
    ? { subject: throttleKey(keys, 'device', device), most: config.SIGN_IN_FAILURES_PER_PASSPORT }
    : undefined
  const isTrusted = own !== undefined && (attempt.session !== undefined || (await exhaustedOf([own])) === undefined)
  const limits = isTrusted ? [own] : untrustedLimits(deps, attempt)
  return {
    refuseExhausted: async () => {
      const until = await exhaustedOf(limits)
      if (until) throw refusal(until)
    },
    failed: async (record) => {
      deps.metrics.signInFailures.inc({ kind: attempt.kind })
      const until = await countFailureWithin(db, limits, clock.now(), WINDOW_S)
      await record?.((until ?? (await exhaustedOf(limits))) !== undefined)
      return refusal(until)
    },
    forget: async () => {
      await clearFailures(db, (limits[0] as Limit).subject)
    },
  }
}

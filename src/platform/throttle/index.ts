/** Failed attempts and rate limits, shared by all processes of a database. */

export { countOwnChange, countUse, countWithin, mayInvite, throttleKey } from './attempts.ts'
export {
  CLIENT_WINDOW_S,
  clearFailures,
  countFailure,
  currentWindow,
  type Failures,
  failedAttemptByKey,
} from './attempts-store.ts'
export { codeGuesses, forgetCodeGuesses } from './code-guesses.ts'
export { DEVICE_LIFETIME_S, knownDevice, rememberDevice } from './device.ts'
export { limitPages, limitRate, preparePages, signInAlert } from './guard.ts'
export { networkOf, SITE_FACTOR, siteOf, subnetOf } from './network.ts'
export { APP_RATES, openRateLimiter } from './rate-limiter.ts'
export { mayRecordFailure, type SignInAttempt, SignInRefused, type SignInSource, signInLimits } from './sign-in.ts'

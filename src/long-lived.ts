import { TEST_USERS } from './authorization/account/index.ts'
import { TokenCap } from './authorization/oauth/index.ts'
import { Provider } from './authorization/upstream/index.ts'
import type { ServiceDeps } from './operations/jobs/index.ts'
import { withShareOf } from './platform/db/sql.ts'
import type { Deps } from './platform/deps.ts'
import { passwordSlots } from './platform/lib/crypto/password.ts'
import { endInOrder, endTogether } from './platform/lib/end-all.ts'
import type { Log } from './platform/lib/log.ts'
import { LongReads } from './platform/lib/long-read.ts'
import { pictureSlots } from './platform/lib/picture.ts'
import { openSampledLog } from './platform/lib/sampled-log.ts'
import { addressGuard } from './platform/outbound/index.ts'
import { openRateLimiter } from './platform/throttle/index.ts'
import { LogFollowers, RunningAttempts } from './sandbox/certification/index.ts'
import { NoticesInProgress } from './ticketing/mtp/index.ts'
import { IncomingCalls } from './ticketing/mws/index.ts'
import { CircuitBreakers, KnownCertificates } from './ticketing/partner-reach/index.ts'

type Given = Pick<Deps, 'config' | 'db' | 'clock' | 'keys'>
type LongLived = Omit<ServiceDeps, keyof Given | 'metrics' | 'tracing' | 'actor' | 'assertLeaseHeld'>

/** Creates what lives as long as the process (ARCHITECTURE "Doors", 4). The caller closes it before the database. */
export function openLongLived(given: Given, log: Log): { readonly longLived: LongLived; close(): Promise<void> } {
  const { config, db, clock, keys } = given
  const sampledLog = openSampledLog(log)
  const calls = {
    guard: addressGuard(config),
    breakers: new CircuitBreakers(clock, Math.ceil(config.MAX_REQUESTS / 4)), // DECISIONS "Limits and load"
    certificates: new KnownCertificates(clock),
  }
  const { UPSTREAM_ISSUER } = config
  const longLived = {
    rateLimiter: openRateLimiter(db, keys, sampledLog),
    passwordSlots: passwordSlots(config),
    pictureSlots: pictureSlots(),
    testUserSlots: TEST_USERS.slots(),
    longReads: new LongReads(),
    tokenCap: new TokenCap(withShareOf(given, 'oauth').db, config, sampledLog),
    calls,
    upstream: UPSTREAM_ISSUER === undefined ? undefined : new Provider({ config, clock, calls }, UPSTREAM_ISSUER),
    incoming: new IncomingCalls(given),
    notices: new NoticesInProgress(),
    runningAttempts: new RunningAttempts(),
    logFollowers: new LogFollowers(db, sampledLog),
  }
  const { logFollowers, tokenCap, runningAttempts, incoming, rateLimiter } = longLived
  const close = () =>
    endInOrder(
      () => logFollowers.close(),
      () => endTogether(...[tokenCap, runningAttempts, incoming].map((part) => () => part.close())),
      () => rateLimiter.close(),
      () => sampledLog.close(),
    )
  return { longLived, close }
}

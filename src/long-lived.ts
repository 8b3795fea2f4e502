import { LogFollowers, RunningAttempts } from './certification/index.ts'
import { withShareOf } from './db/sql.ts'
import type { Deps } from './deps.ts'
import type { ServiceDeps } from './jobs/index.ts'
import { passwordSlots } from './lib/crypto/password.ts'
import type { Log } from './lib/log.ts'
import { LongReads } from './lib/long-read.ts'
import { openSampledLog } from './lib/sampled-log.ts'
import { NoticesInProgress } from './mtp/index.ts'
import { IncomingCalls } from './mws/index.ts'
import { TokenCap } from './oauth/index.ts'
import { addressGuard } from './outbound/index.ts'
import { CircuitBreakers, KnownCertificates } from './partner-reach/index.ts'
import { openRateLimiter } from './throttle/index.ts'
import { Provider } from './upstream/index.ts'

type Given = Pick<Deps, 'config' | 'db' | 'clock' | 'keys'>
type LongLived = Omit<ServiceDeps, keyof Given | 'metrics' | 'tracing' | 'actor' | 'assertLeaseHeld'>

/** What lives as long as the process, made once (ARCHITECTURE "Doors", 4). Whoever makes it closes it, before the database. */
export function openLongLived(given: Given, log: Log): { readonly made: LongLived; close(): Promise<void> } {
  const { config, db, clock, keys } = given
  const sampledLog = openSampledLog(log)
  const calls = {
    guard: addressGuard(config),
    breakers: new CircuitBreakers(clock),
    certificates: new KnownCertificates(clock),
  }
  const { UPSTREAM_ISSUER } = config
  const made = {
    rateLimiter: openRateLimiter(db, keys),
    passwordSlots: passwordSlots(config),
    longReads: new LongReads(),
    tokenCap: new TokenCap(withShareOf(given, 'oauth').db, config, sampledLog),
    calls,
    upstream: UPSTREAM_ISSUER === undefined ? undefined : new Provider({ config, clock, calls }, UPSTREAM_ISSUER),
    incoming: new IncomingCalls(given),
    notices: new NoticesInProgress(),
    runningAttempts: new RunningAttempts(),
    logFollowers: new LogFollowers(db),
  }
  const close = async () => {
    made.logFollowers.close()
    made.tokenCap.close()
    await Promise.all([made.runningAttempts.close(), made.incoming.close()])
    await made.rateLimiter.close()
    sampledLog.close()
  }
  return { made, close }
}

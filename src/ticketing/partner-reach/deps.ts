import type { Deps } from '../../platform/deps.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import type { KnownCertificates } from './known-certificates.ts'

/** For operations that ask whether a partner can be reached. */
export interface ReachDeps extends Deps {
  readonly calls: { readonly breakers: CircuitBreakers; readonly certificates: KnownCertificates }
}

/** Whether partners can be reached: circuit breakers, and when their certificates end. */

export { breakerAllows, storeBreaker } from './breaker.ts'
export { listBreakers, resetBreaker } from './breaker-admin.ts'
export { REACH_RETENTION } from './breaker-store.ts'
export {
  certificatesEndingSoon,
  ENDING_WITHIN_S,
  listCertificates,
  noteCertificate,
} from './certificate.ts'
export { BREAKER, CircuitBreakers } from './circuit-breakers.ts'
export type { ReachDeps } from './deps.ts'
export { KnownCertificates } from './known-certificates.ts'

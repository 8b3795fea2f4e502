/** Whether partners can be reached: circuit breakers, and when their certificates end. */

export { BREAKER, breakerAllows, CircuitBreakers, storeBreaker } from './breaker.ts'
export { listBreakers, resetBreaker } from './breaker-admin.ts'
export { REACH_RETENTION } from './breaker-store.ts'
export {
  certificatesEndingSoon,
  ENDING_WITHIN_S,
  KnownCertificates,
  listCertificates,
  noteCertificate,
} from './certificate.ts'

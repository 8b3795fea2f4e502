/** Whether partners can be reached: circuit breakers, and when their certificates end. */

export { BREAKER, breakerAllows, CircuitBreakers, storeBreaker } from './breaker.ts'
export { listBreakers } from './breaker-admin.ts'
export { REACH_RETENTION } from './breaker-store.ts'
export { certificatesEndingSoon, KnownCertificates, noteCertificate } from './certificate.ts'
export { REACH_ACTIONS } from './operator.ts'

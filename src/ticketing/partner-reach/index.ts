/** Whether partners can be reached: circuit breakers, and when their certificates end. */

export { REACH_ACTIONS } from './actions.ts'
export { breakerAllows, breakerOf, listBreakers, storeBreaker } from './breaker.ts'
export { certificatesEndingSoon, KnownCertificates, noteCertificate, type ReachDeps } from './certificate.ts'
export { BREAKER, CircuitBreakers } from './circuit-breakers.ts'
export { REACH_RETENTION } from './store.ts'

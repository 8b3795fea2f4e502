/** Whether partners can be reached: circuit breakers, and when their certificates end. */

export { BREAKER, CircuitBreakers } from './breaker.ts'
export {
  certificatesEndingSoon,
  ENDING_WITHIN_S,
  KnownCertificates,
  listCertificates,
  noteCertificate,
} from './certificate.ts'
export { REACH_RETENTION } from './circuit-store.ts'
export { keepCircuit, listBreakers, mayCall, resetBreaker } from './circuits.ts'

/** Whether partners can be reached: circuit breakers, and when their certificates end. */

export { BREAKER, CircuitBreakers, keepCircuit, mayCall } from './breaker.ts'
export {
  certificatesEndingSoon,
  ENDING_WITHIN_S,
  KnownCertificates,
  listCertificates,
  noteCertificate,
} from './certificate.ts'
export { REACH_RETENTION } from './circuit-store.ts'
export { listBreakers, resetBreaker } from './circuits.ts'

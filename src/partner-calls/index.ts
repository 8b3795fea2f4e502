export { BREAKER, CircuitBreakers } from './breaker.ts'
export {
  type AnswerOf,
  activePartner,
  callAsWritten,
  callPartner,
  existingPartner,
  heartbeatWith,
  type RequestOf,
} from './call-partner.ts'
export { type CallProblem, type CallResult, failureOf } from './call-result.ts'
export {
  CALL_RETENTION,
  type CallRecord,
  type CallSummary,
  type CallVerdict,
  callsBySpan,
  callsOf,
  FORGERIES,
  type Forgery,
  judgeCall,
  lastCallAbout,
} from './call-store.ts'
export {
  certificateFilter,
  ENDING_WITHIN_S,
  KnownCertificates,
  type ListedCertificate,
  listCertificates,
} from './certificate.ts'
export { CERTIFICATE_RETENTION, certificatesEnding } from './certificate-store.ts'
export { CIRCUIT_RETENTION, type OpenBreaker } from './circuit-store.ts'
export { breakerFilter, listBreakers, onePartner, resetBreaker } from './circuits.ts'
export { RefusedRequest, unknownPartner } from './errors.ts'
export type { CallOptions } from './exchange.ts'
export { type CallFaults, type SentAgain, SLOW_MS, statedNow } from './faults.ts'
export { BODY_DECRYPTED, FORGED_DATE_AGE_S } from './wire.ts'

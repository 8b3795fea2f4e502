/** Signed calls to partners, and the record of them. */

export {
  type AnswerOf,
  activePartner,
  callAsWritten,
  callNow,
  callPartner,
  existingPartner,
  heartbeatWith,
  type MadeCall,
  type RequestOf,
  withCalls,
} from './call-partner.ts'
export { type CallProblem, type CallResult, failureOf } from './call-result.ts'
export {
  CALL_RETENTION,
  type CallRecord,
  callsBySpan,
  callsOf,
  FORGERIES,
  type Forgery,
  judgeCall,
  lastCallAbout,
} from './call-store.ts'
export { BY_COMMAND, BY_PLAYGROUND, byOperator, CALL_CAUSES, type CallCause } from './cause.ts'
export type { CallDeps, CallFaults, SentAgain } from './deps.ts'
export { SLOW_MS, statedNow } from './deps.ts'
export type { CallOptions } from './exchange.ts'
export { FORGED_DATE_AGE_S } from './wire.ts'

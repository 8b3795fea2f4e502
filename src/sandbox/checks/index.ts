export {
  type CheckId,
  type CommonCheck,
  type ExpectedChecks,
  type Finding,
  finding,
  loggedObject,
} from './checks.ts'
export {
  ANSWER_SLOW_MS,
  type Expectation,
  examineCall,
  isNetworkFailure,
  redactFailure,
  verdictOf,
} from './examine.ts'
export { type Codes, FORGED_CALLS, hasCode } from './examine-code.ts'
export { docOfAnswer } from './examine-content.ts'
export { strictness } from './examine-envelope.ts'
export { sameAnswerFindings } from './same-answer.ts'

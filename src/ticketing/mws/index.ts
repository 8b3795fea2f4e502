export { checkKeptCall } from './authenticate.ts'
export { jsonBytes, readNotice } from './body-guard.ts'
export { MISTAKES, WARNINGS, type Warning } from './diagnose/mistakes.ts'
export { callerOf, mwsSignature, noticeSignature, readSignedCall, type SignedCall } from './guard.ts'
export type { IncomingDeps } from './incoming-calls.ts'
export { IncomingCalls } from './incoming-calls.ts'
export { isKeptWhole, keepRejectedOf } from './reject.ts'
export {
  findRejectedCall,
  REJECTED_CALL_RETENTION,
  type RejectedCallSummary,
  rejectedCallsOf,
} from './rejected-store.ts'
export {
  hasPassedSignatureTool,
  listSignatureTests,
  passSignatureTool,
  type SignatureTest,
  testPastedSignature,
} from './signature-test.ts'
export { signatureTestRoutes } from './signature-test-routes.ts'
export { answerRejection, type RejectionPolicy, rejectInEnvelope, signedRoutes } from './signed-routes.ts'

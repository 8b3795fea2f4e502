export { checkKeptCall } from './authenticate.ts'
export { jsonBytes, readNotice } from './body-guard.ts'
export { EXPLANATIONS, TOLERATED, type Warning } from './diagnose/mistakes.ts'
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
export { passSignatureTool, testPastedSignature } from './signature-test.ts'
export { hasPassedSignatureTool, listSignatureTests, type SignatureTest } from './signature-test-store.ts'
export { answerRejection, type RejectionPolicy, signatureTestRoutes, signedRoutes } from './signed-routes.ts'

export { accepted, refused } from './answer.ts'
export { SIGNATURE_UNFIT } from './authenticate.ts'
export { acceptRawBodies, jsonBytes, readableBody, TOO_LONG, UNREAD } from './body-guard.ts'
export { zoneOfOffset } from './diagnose/date-header.ts'
export { MISTAKES } from './diagnose/index.ts'
export { WARNINGS } from './diagnose/warnings.ts'
export { at, ENDPOINTS, NOTICE_PATHS, PATH, refusalCode } from './endpoints.ts'
export { BA_FAILED, BaFailed, bodyRejected, CallRejected, noSuchPath, tooManyCalls } from './errors.ts'
export { callerOf, callOf, mwsSignature } from './guard.ts'
export { listNotices, type ReceivedCall, type ReceivedNotice, receivedSince } from './received.ts'
export { BODY_MASKED, KEPT_OF_BODY, keepRejected } from './reject.ts'
export { noticeEndpoint, replayNotice } from './replay.ts'
export { decodedPath, pathAsSent, stringToSign } from './signature.ts'
export {
  hasPassedSignatureTool,
  listSignatureTests,
  type SignatureTest,
  testPastedSignature,
} from './signature-test.ts'
export { MTP_RETENTION } from './store.ts'
export {
  consumeNotice,
  dealChangeNotice,
  levelPriceNotice,
  noticeFilter,
  payNotice,
  readNotice,
  refundNotice,
  rescheduleNotice,
} from './wire.ts'

/** The wire format of signed calls to us: endpoints, envelopes and rejections. */

export { ENDPOINTS, failureCodeOf, NOTICE_PATHS, type NoticeName, nearestPath, PATH } from './endpoints.ts'
export { ANSWER_HEADERS, type Envelope, rejectionEnvelope, successEnvelope } from './envelope.ts'
export {
  BA_FAILED,
  bodyRejected,
  CallRejected,
  isOfAuthentication,
  methodNotAllowed,
  NotAuthenticated,
  noSuchPath,
  rejectionCode,
  tooManyCalls,
} from './errors.ts'

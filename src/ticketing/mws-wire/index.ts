/** The wire of signed calls to us: the addresses, what is answered, and how a call is rejected. */

export { ENDPOINTS, failureCodeOf, NOTICE_PATHS, nearestPath, PATH } from './endpoints.ts'
export {
  BA_FAILED,
  bodyRejected,
  CallRejected,
  type Envelope,
  isOfAuthentication,
  methodNotAllowed,
  NotAuthenticated,
  noSuchPath,
  notAuthenticated,
  rejectedThoughVerified,
  rejectionCode,
  rejectionEnvelope,
  successEnvelope,
  tooManyCalls,
} from './errors.ts'

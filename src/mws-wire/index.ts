/** The wire of signed calls to us: the addresses, what is answered, and how a call is refused. */

export { ENDPOINTS, NOTICE_PATHS, PATH, refusalCode } from './endpoints.ts'
export {
  type Answer,
  BA_FAILED,
  bodyRejected,
  CallRejected,
  methodNotAllowed,
  NotAuthenticated,
  noSuchPath,
  notAuthenticated,
  refused,
  rejectedThoughVerified,
  rejectionCode,
  tooManyCalls,
} from './errors.ts'
export { nearestPath } from './nearest-path.ts'

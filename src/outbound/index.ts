export { addressGuard } from './address-guard.ts'
export type { CallTimings } from './connection.ts'
export {
  type CallFailure,
  get,
  type HttpAnswer,
  HttpCallError,
  post,
} from './http-call.ts'

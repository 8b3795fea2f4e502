export { addressGuard } from './address-guard.ts'
export type { CallTimings } from './call-progress.ts'
export {
  type CallFailure,
  get,
  type HttpAnswer,
  HttpCallError,
  post,
} from './http-call.ts'

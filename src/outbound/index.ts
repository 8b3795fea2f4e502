export { addressGuard } from './address-guard.ts'
export {
  type CallFailure,
  type CallTimings,
  type HttpAnswer,
  HttpCallError,
  post,
} from './http-call.ts'

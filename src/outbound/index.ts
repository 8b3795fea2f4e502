export { addressGuard } from './address-guard.ts'
export {
  type CallFailure,
  type CallLimits,
  type CallTimings,
  type HttpAnswer,
  HttpCallError,
  PARTNER_LIMITS,
  post,
} from './http-call.ts'

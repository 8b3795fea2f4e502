export { addressGuard, type OutboundDeps } from './address-guard.ts'
export { type CallFailure, certificateProblem, isNoHttp } from './call-failure.ts'
export { type DeliveryResult, deliver, NotSent } from './delivery.ts'
export {
  type CallTimings,
  get,
  type HttpAnswer,
  HttpCallError,
  post,
} from './http-call.ts'
export { postWebhook, WEBHOOK_PROBLEMS } from './webhook.ts'

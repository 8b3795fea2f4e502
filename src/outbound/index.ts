export { type AddressGuard, addressGuard } from './address-guard.ts'
export {
  type CallFailure,
  type CallTimings,
  get,
  type HttpAnswer,
  HttpCallError,
  post,
} from './http-call.ts'

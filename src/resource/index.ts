export { RESOURCE_API } from './api.ts'
export { describeToken, type LiveToken } from './described.ts'
export { RESOURCE_FAILURES, refuse as refuseResource } from './failures.ts'
export { jsTicket } from './wire.ts'

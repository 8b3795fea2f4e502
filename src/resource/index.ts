export { describeToken, type LiveToken } from './described.ts'
export { refuse as refuseResource } from './failures.ts'
export { jsTicket } from './wire.ts'

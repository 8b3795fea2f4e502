export { jsTicket } from './wire.ts'

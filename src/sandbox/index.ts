export { checkLine } from './api/junit.ts'
export { sendNotification } from './notify/send.ts'
export { SANDBOX_RETENTION } from './session-store.ts'
export { exchangesSince, type RecordedCall } from './traffic-entry-store.ts'

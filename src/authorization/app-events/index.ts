/** What apps are told over their webhooks, by the queue. */

export { sendAppEvents, tellOfEndedAccess } from './events.ts'
export { APP_EVENT_ACTIONS } from './operator.ts'
export { APP_EVENT_RETENTION, APP_EVENTS_OF_PERSON, appsToTell } from './store.ts'
export type { EndReason } from './wire.ts'

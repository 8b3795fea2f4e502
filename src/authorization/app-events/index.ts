/** Events sent to the webhooks of apps, through the job queue. */

export { APP_EVENT_ACTIONS } from './actions.ts'
export {
  checkWebhookUrl,
  listAppEvents,
  retryAppEvent,
  sendAppEvents,
  tellApp,
  tellOfEndedAccess,
  tellOfEndingSecrets,
  testWebhook,
} from './events.ts'
export { APP_EVENT_RETENTION, APP_EVENTS_OF_PERSON, appsToTell } from './store.ts'
export { type EndReason, EVENT_TYPES } from './wire.ts'
